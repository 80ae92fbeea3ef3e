// Fetches a log from another host, for the page that opened this one, which may not.
//
// 1. It says that it is ready, and is told the address: only by a page of the same origin, which
//    asked its user before. Opened by anybody else it does nothing.
// 2. It asks the host how large the file is, names both, and waits for a click.
// 3. It hands the file over, and closes when that has come.

const opened = window.opener;
const byId = (id) => document.getElementById(id);
// What is put together before the browser may put it on the disk.
const PIECE_BYTES = 16 << 20;

let address = null;
let running = null;

const OPTIONS = { credentials: 'omit', referrerPolicy: 'no-referrer', mode: 'cors', cache: 'no-store' };

const ERRORS = {
  'ES-211': (host) => [
    `${host} does not respond, or does not allow other sites to read this file. The browser does not report which.`,
    `The operator of ${host} can allow it with the response header “Access-Control-Allow-Origin: *” or “Access-Control-Allow-Origin: ${location.origin}”. Alternatively, download the file and drop it on Eventscope.`,
  ],
  'ES-212': (host, status) => [
    `${host} responded with status ${status}: ${status === 404 || status === 410 ? 'the file does not exist' : 'it refused the request'}.`,
    'Check the address. If the file needs a login, download it and drop it on Eventscope.',
  ],
  'ES-213': (host) => [
    `The download from ${host} was interrupted.`,
    'Try again, or download it and drop it on Eventscope.',
  ],
  'ES-214': () => ['The page that requested the file is closed.', 'Open the link again.'],
};

function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit && value < 100 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Shows the state, with the buttons that apply to it. */
function show({ state = '', get = '', cancels = false }) {
  byId('state').textContent = state;
  byId('get').hidden = !get;
  byId('get').textContent = get;
  byId('cancel').hidden = !cancels;
  byId('coming').hidden = !cancels;
  byId('error').hidden = true;
}

/** Shows the bytes received; the total may be the compressed size. */
function tell(done, total) {
  const isPart = total && done <= total;
  byId('numbers').textContent = bytes(done) + (isPart ? ` of ${bytes(total)}` : '');
  if (isPart) {
    byId('progress').max = total;
    byId('progress').value = done;
  } else {
    byId('progress').removeAttribute('value');
  }
}

function fail(code, ...about) {
  const [said, advice] = ERRORS[code](address?.host, ...about);
  show({ get: address && opened && !opened.closed ? 'Try again' : '' });
  byId('said').textContent = said;
  byId('advice').textContent = advice;
  byId('code').textContent = code;
  byId('download').hidden = !address;
  if (address) byId('download').href = address.href;
  byId('error').hidden = false;
}

/** Whether this page follows such an address: the same rules as those of the page that sent it. */
function isSound(url) {
  return ['https:', 'http:'].includes(url.protocol) && !url.username && !url.password
    && (location.protocol !== 'https:' || url.protocol === 'https:');
}

/** The answer of the host, with its file or only what it says of it. */
async function ask(method, signal) {
  const response = await fetch(address, { ...OPTIONS, method, signal });
  if (!response.ok) throw response;
  return response;
}

function size(response) {
  const length = Number(response.headers.get('Content-Length'));
  return length > 0 ? length : null;
}

/** How large the file is: not all hosts answer HEAD. */
async function askSize() {
  const asking = new AbortController();
  let answer;
  try {
    answer = await ask('HEAD', asking.signal);
  } catch {
    answer = await ask('GET', asking.signal);
    asking.abort();
  }
  return { total: size(answer), from: new URL(answer.url || address).host };
}

async function offer() {
  show({ state: `Requesting the size of the file from ${address.host}…` });
  try {
    const { total, from } = await askSize();
    const moved = from === address.host ? '' : ` It redirects to ${from}.`;
    const large = total ? `The file has ${bytes(total)}.` : `${address.host} does not report the size of the file.`;
    show({ state: large + moved, get: `Fetch ${total ? bytes(total) : 'it'} from ${from}` });
    byId('get').focus();
  } catch (error) {
    explain(error);
  }
}

function explain(error) {
  if (error instanceof Response) fail('ES-212', error.status);
  else fail('ES-211');
}

async function get() {
  running = new AbortController();
  const { signal } = running;
  show({ state: `Fetching from ${address.host}…`, cancels: true });
  tell(0, null);
  byId('cancel').focus();
  let response;
  try {
    response = await ask('GET', signal);
  } catch (error) {
    return signal.aborted ? offerAgain() : explain(error);
  }
  const total = size(response);
  const pieces = [];
  let piece = [];
  let pieceBytes = 0;
  let done = 0;
  try {
    const reader = response.body.getReader();
    for (;;) {
      const { value, done: isLast } = await reader.read();
      if (isLast) break;
      piece.push(value);
      pieceBytes += value.length;
      done += value.length;
      if (pieceBytes >= PIECE_BYTES) {
        pieces.push(new Blob(piece));
        piece = [];
        pieceBytes = 0;
      }
      tell(done, total);
    }
  } catch {
    return signal.aborted ? offerAgain() : fail('ES-213');
  }
  const last = address.pathname.split('/').pop();
  let name = last || 'log';
  try {
    name = decodeURIComponent(name);
  } catch {
    // Not percent-encoded UTF-8: used unchanged.
  }
  const changed = Date.parse(response.headers.get('Last-Modified') ?? '');
  const file = new File([...pieces, ...piece], name, Number.isFinite(changed) ? { lastModified: changed } : {});
  if (!opened || opened.closed) return fail('ES-214');
  show({ state: `${bytes(done)} received. Passing the log to Eventscope…` });
  opened.postMessage({ eventscope: 'log', file }, location.origin);
}

function offerAgain() {
  show({ state: 'Cancelled.', get: `Fetch it from ${address.host}` });
  byId('get').focus();
}

addEventListener('message', ({ origin, source, data }) => {
  if (origin !== location.origin || source !== opened) return;
  if (data?.eventscope === 'taken') window.close();
  if (data?.eventscope !== 'address' || address) return;
  const url = URL.parse ? URL.parse(data.address) : new URL(data.address);
  if (!url || !isSound(url)) return;
  address = url;
  byId('what').textContent = `A link that you opened in Eventscope refers to a log on ${url.host}:`;
  byId('address').textContent = url.href;
  offer();
});

byId('get').addEventListener('click', () => (opened && !opened.closed ? get() : fail('ES-214')));
byId('cancel').addEventListener('click', () => running?.abort());
// A page of another origin never hears of it.
if (opened) opened.postMessage({ eventscope: 'ready' }, location.origin);
