// The guide in the theme of the page, and its commands with a button that copies them.

const stored = (name) => {
  try {
    return localStorage.getItem(`eventscope-${name}`);
  } catch {
    return null; // Storage is blocked: as the system has it.
  }
};
for (const name of ['theme', 'contrast']) {
  const value = stored(name);
  if (value) document.documentElement.dataset[name] = value;
}

/** Copies a text, and says on the button what became of that. */
async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not copied';
  }
  setTimeout(() => (button.textContent = 'Copy'), 1500);
}

addEventListener('DOMContentLoaded', () => {
  for (const pre of document.querySelectorAll('pre')) {
    const [button, box] = [document.createElement('button'), document.createElement('div')];
    button.textContent = 'Copy';
    button.className = 'small';
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', () => copy(button, pre.textContent));
    box.className = 'command';
    pre.tabIndex = 0; // It may have to be scrolled.
    pre.replaceWith(box);
    box.append(pre, button);
  }
});
