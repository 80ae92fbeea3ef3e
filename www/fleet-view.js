// Explores the runs of a fleet: number, label and filters are chosen, points and rows lead to logs.
//
// The page has charts without this script too; they give way to the explorer. It reads the data in the element
// `fleet-data`, which crates/views/src/fleet/data.rs writes, and is part of every page of a fleet, so it uses nothing
// but the page. `eventscopeFleet(data element, options)` starts it for a page that was filled in later; the option
// `open` opens the log of a run, and `canOpen` tells whether it can.

(() => {
  'use strict';

  const MISSING = 0xffffffff;
  const ROWS = 25;
  const MORE_ROWS = 200;
  const NBSP = '\u00a0';

  const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  // Marks that change the direction of text could make a name look like another one.
  // eslint-disable-next-line no-control-regex
  const clean = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').replace(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');
  const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const counted = (count, what) => `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

  /** Creates an element with attributes, listeners (`onclick`) and children. */
  function make(name, attributes = {}, ...children) {
    const isSvg = ['svg', 'line', 'rect', 'text', 'path', 'circle', 'title'].includes(name);
    const element = isSvg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function duration(ns) {
    for (const [unit, length] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
      if (ns < length * 0.9995) continue;
      const value = ns / length;
      if (unit === 's' && value >= 59.95) {
        const seconds = Math.round(value);
        const [upper, lower] = seconds < 3600 ? [60, 1] : seconds < 86400 ? [3600, 60] : [86400, 3600];
        const names = { 60: ['min', 's'], 3600: ['h', 'min'], 86400: ['d', 'h'] }[upper];
        const rest = String(Math.floor((seconds % upper) / lower)).padStart(2, '0');
        return `${Math.floor(seconds / upper)}${NBSP}${names[0]}${NBSP}${rest}${NBSP}${names[1]}`;
      }
      const decimals = value < 1.9995 ? 3 : value < 19.995 ? 2 : value < 199.95 ? 1 : 0;
      return value.toFixed(decimals) + NBSP + unit;
    }
    return `${Math.round(ns)}${NBSP}ns`;
  }

  function bytes(size) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
    let unit = 0;
    let value = size;
    while (value >= 1023.95 && unit < units.length - 1) {
      value /= 1024;
      unit += 1;
    }
    return (unit && value < 99.95 ? value.toFixed(1) : Math.round(value).toString()) + NBSP + units[unit];
  }

  /** Formats a value as the tables of the page do. */
  function amount(number, value) {
    if (!Number.isFinite(value)) return '–';
    if (value === 0) return '0';
    switch (number.unit) {
      case 'ns': return duration(Math.max(value, 0));
      case 'bytes': return bytes(Math.max(value, 0));
      case 'share': return `${(value * 100).toFixed(1)}${NBSP}%`;
      case 'per-second': return number.name.startsWith('alloc.') ? `${bytes(value)}/s` : `${value.toPrecision(4)}${NBSP}/s`;
      default: return value < 100 && value % 1 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
    }
  }

  /** Quantile of ascending values, linearly interpolated. */
  function quantile(sorted, share) {
    if (!sorted.length) return NaN;
    const at = share * (sorted.length - 1);
    const low = sorted[Math.floor(at)];
    return low + (sorted[Math.ceil(at)] - low) * (at % 1);
  }

  /** Axis for the bulk of ascending values with some room, as Histogram::of has it. */
  function axis(sorted) {
    const isLogarithmic = sorted[0] > 0 && quantile(sorted, 0.95) > 10 * quantile(sorted, 0.05);
    const map = isLogarithmic ? Math.log : (value) => value;
    const back = isLogarithmic ? Math.exp : (value) => value;
    const [min, max] = [map(sorted[0] ?? 0), map(sorted[sorted.length - 1] ?? 1)];
    const [p5, p25, p75, p95] = [0.05, 0.25, 0.75, 0.95].map((share) => map(quantile(sorted, share)));
    const distance = Math.max(p75 - p25, (p95 - p5) / 2.5);
    let [low, high] = distance > 0 ? [Math.max(min, p25 - 2.5 * distance), Math.min(max, p75 + 2.5 * distance)] : [min, max];
    if (!(high > low)) [low, high] = [low - Math.max(Math.abs(low), 1) / 2, low + Math.max(Math.abs(low), 1) / 2];
    return scale(back(low), back(high), isLogarithmic);
  }

  function scale(low, high, isLogarithmic) {
    const map = (value) => (isLogarithmic ? Math.log(Math.max(value, Number.MIN_VALUE)) : value);
    const [from, to] = [map(low), map(high)];
    return {
      low,
      high,
      isLogarithmic,
      share: (value) => Math.min(Math.max((map(value) - from) / (to - from), 0), 1),
      value: (share) => (isLogarithmic ? Math.exp(from + (to - from) * share) : from + (to - from) * share),
    };
  }

  function ticks({ low, high, isLogarithmic }, unit, count) {
    const base = unit === 'bytes' && high >= 1024 ? 1024 ** Math.floor(Math.log2(high) / 10) : 1;
    const all = [];
    if (isLogarithmic) {
      const decades = Math.log10(high / low);
      const factors = decades * 3 <= count ? [1, 2, 5] : [1];
      const every = Math.max(1, Math.ceil(decades / count));
      for (let power = Math.floor(Math.log10(low / base)); power <= Math.ceil(Math.log10(high / base)); power += every) {
        all.push(...factors.map((factor) => factor * 10 ** power * base));
      }
    } else {
      const rough = (high - low) / base / count;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.99) ?? 10) * power;
      const first = Math.ceil(low / base / step);
      for (let index = 0; index <= 4 * count && (first + index) * step * base <= high; index += 1) {
        all.push((first + index) * step * base);
      }
    }
    return all.filter((tick) => tick >= low && tick <= high);
  }

  /** Decodes the data of the page. */
  function decoded(text) {
    const data = JSON.parse(text);
    data.count = data.files.length;
    data.folder = new Uint32Array(bytesOf(data.folder));
    for (const label of data.labels) label.byRun = new Uint32Array(bytesOf(label.by_run));
    // Columns are decoded when they are shown first.
    for (const number of data.numbers) {
      const encoded = number.values;
      let values = null;
      Object.defineProperty(number, 'values', { get: () => (values ??= new Float32Array(bytesOf(encoded))) });
    }
    return data;
  }

  class Explorer {
    constructor(data, options) {
      this.data = data;
      this.options = options;
      this.divisions = data.labels.map((label, index) => ({ ...label, index })).filter((label) => label.divides);
      this.number = Math.max(0, data.numbers.findIndex((number) => number.is_headline));
      this.by = this.divisions.find((label) => label.key === 'version') ?? this.divisions[0] ?? null;
      this.filters = new Map();
      this.search = '';
      this.rows = ROWS;
      this.hovered = null;
      this.chosen = null;
      this.build();
      this.readHash();
      this.update();
    }

    name(run) {
      return clean(this.data.files[run].replace(/\.json$/, '').replace(/\.digest$/, '').replace(/\.eventlog$/, ''));
    }

    path(run) {
      const { data } = this;
      return (data.folders[data.folder[run]] ?? '') + (data.logs[run] || data.files[run]);
    }

    label(run, label) {
      const value = label.byRun[run];
      return value === MISSING ? null : label.values[value];
    }

    labels(run) {
      const own = this.divisions.map((label) => [label.word, this.label(run, label)]);
      return own.filter(([, value]) => value !== null).map(([word, value]) => `${word} ${clean(value)}`).join(', ');
    }

    /** Address of a run's log, as LinkPattern::address has it. */
    address(run) {
      const { link, files, folders, folder } = this.data;
      if (!link) return null;
      const encode = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
      const encodePath = (text) => encode(text).replaceAll('%2F', '/');
      const digest = (folders[folder[run]] ?? '') + files[run];
      let isWhole = true;
      const address = link.replace(/\{([^}]*)\}/g, (_, key) => {
        if (key === 'run' || key === 'name') return encode(files[run].replace(/\.json$/, '').replace(/\.digest$/, '').replace(/\.eventlog$/, ''));
        if (key === 'path') return encodePath(this.path(run));
        if (key === 'digest') return encodePath(digest);
        if (key === 'file') return encode(files[run]);
        const label = this.data.labels.find((label) => label.key === key);
        const value = label && this.label(run, label);
        if (value === null || value === undefined) isWhole = false;
        return encode(value ?? '');
      });
      return isWhole ? address : null;
    }

    build() {
      const field = (text, control) => {
        control.setAttribute('aria-label', text);
        return make('label', {}, text, control);
      };
      this.numberSelect = make('select', { onchange: () => this.choose({ number: Number(this.numberSelect.value) }) });
      const groups = new Map();
      this.data.numbers.forEach((number, index) => {
        const heading = number.is_headline ? 'Headline numbers' : { program: 'Program', threads: 'Threads', spans: 'Spans', 'cost-centres': 'Cost centres', bands: 'Heap bands' }[number.group] ?? 'Others';
        if (!groups.has(heading)) groups.set(heading, make('optgroup', { label: heading }));
        const text = number.title === number.name ? clean(number.name) : `${number.title} (${number.name})`;
        groups.get(heading).append(make('option', { value: index }, text));
      });
      this.numberSelect.append(...groups.values());
      const options = this.divisions.map((label) => make('option', { value: label.key }, clean(label.word)));
      this.bySelect = make('select', { onchange: () => this.choose({ by: this.bySelect.value }) }, ...options);
      const controls = make('div', { class: 'controls' }, field('Number', this.numberSelect));
      if (this.divisions.length) controls.append(field('Group by', this.bySelect));
      this.filterSelects = new Map();
      for (const label of this.divisions.filter((label) => label.values.length <= 500)) {
        const select = make('select', { onchange: () => this.filter(label.key, select.value) }, make('option', { value: '' }, 'all'));
        label.values.forEach((value, index) => select.append(make('option', { value: index }, clean(value))));
        this.filterSelects.set(label.key, select);
        controls.append(field(`Only ${clean(label.word)}`, select));
      }
      this.searchField = make('input', { type: 'search', placeholder: 'part of a path', oninput: () => this.choose({ search: this.searchField.value }) });
      controls.append(field('Search runs', this.searchField));
      this.reset = make('button', { type: 'button', onclick: () => this.clear() }, 'All runs');
      controls.append(this.reset);
      this.summary = make('p', { role: 'status' });
      this.canvas = make('canvas', {
        tabindex: 0,
        role: 'application',
        'aria-label': 'Runs in the order of time: arrow keys go from run to run, Enter chooses one',
        onpointermove: (event) => this.hover(this.nearest(event)),
        onpointerleave: () => this.hover(this.chosen),
        onclick: (event) => this.pick(this.nearest(event)),
        onkeydown: (event) => this.key(event),
      });
      this.axes = make('svg', { class: 'chart', width: '100%', height: 260, 'aria-hidden': 'true' });
      this.plot = make('div', { class: 'plot' }, this.axes, this.canvas);
      this.readout = make('p', { class: 'readout' });
      this.histogram = make('svg', { class: 'chart', width: '100%', height: 260, role: 'img' });
      this.groupTable = make('div', { class: 'wide', tabindex: 0, role: 'group' });
      this.runTable = make('div', { class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Runs' });
      this.card = make('div', { class: 'chosen', hidden: '', role: 'region', 'aria-label': 'Chosen run' });
      const charts = make('div', { class: 'charts' },
        make('figure', {}, this.plot, this.readout),
        make('figure', {}, this.histogram, make('figcaption', {}, 'Runs by value; those beyond the scale are in the first and the last bar.')));
      this.root = make('div', { class: 'explorer' }, controls, this.summary, charts, this.card, this.groupTable, this.runTable);
      new ResizeObserver(() => this.paint()).observe(this.plot);
      matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint());
    }

    choose(changes) {
      if (changes.number !== undefined) this.number = changes.number;
      if (changes.by !== undefined) this.by = this.divisions.find((label) => label.key === changes.by) ?? this.by;
      if (changes.search !== undefined) this.search = changes.search;
      this.rows = ROWS;
      this.update();
    }

    filter(key, value) {
      if (value === '') this.filters.delete(key);
      else this.filters.set(key, Number(value));
      this.rows = ROWS;
      this.update();
    }

    clear() {
      this.filters.clear();
      this.search = '';
      this.searchField.value = '';
      this.rows = ROWS;
      this.update();
    }

    /** Applies what a link says: `#n=gc.pause.p99&by=host&host=web-07`. */
    readHash() {
      const asked = new URLSearchParams(location.hash.slice(1));
      const number = this.data.numbers.findIndex((number) => number.name === asked.get('n'));
      if (number >= 0) this.number = number;
      this.by = this.divisions.find((label) => label.key === asked.get('by')) ?? this.by;
      for (const label of this.divisions) {
        const value = label.values.indexOf(asked.get(`only-${label.key}`));
        if (value >= 0) this.filters.set(label.key, value);
      }
    }

    writeHash() {
      const told = new URLSearchParams({ n: this.data.numbers[this.number].name });
      if (this.by) told.set('by', this.by.key);
      for (const [key, value] of this.filters) {
        told.set(`only-${key}`, this.divisions.find((label) => label.key === key).values[value]);
      }
      // Documents in frames and mails have no address to change.
      try {
        history.replaceState(null, '', `#${told}`);
      } catch {
        // The view is not in the address, then.
      }
    }

    /** Computes and shows everything for the choice. */
    update() {
      const { data } = this;
      const number = data.numbers[this.number];
      this.numberSelect.value = this.number;
      if (this.by) this.bySelect.value = this.by.key;
      for (const [key, select] of this.filterSelects) select.value = this.filters.get(key) ?? '';
      this.reset.hidden = this.filters.size === 0 && !this.search;
      const filters = [...this.filters].map(([key, value]) => [this.divisions.find((label) => label.key === key).byRun, value]);
      const search = this.search.toLowerCase();
      const { values } = number;
      this.shown = [];
      for (let run = 0; run < data.count; run += 1) {
        if (filters.some(([byRun, value]) => byRun[run] !== value) || !Number.isFinite(values[run])) continue;
        if (search && !this.path(run).toLowerCase().includes(search)) continue;
        this.shown.push(run);
      }
      this.sorted = Float64Array.from(this.shown, (run) => values[run]).sort();
      this.scale = axis(this.sorted);
      const at = (share) => amount(number, quantile(this.sorted, share));
      const runs = this.shown.length === data.count ? `All ${counted(data.count, 'run')}` : `${this.shown.length.toLocaleString('en')} of ${counted(data.count, 'run')}`;
      const quantiles = this.shown.length ? `: median ${at(0.5)}, half between ${at(0.25)} and ${at(0.75)}, nine of ten between ${at(0.05)} and ${at(0.95)}, 99 % up to ${at(0.99)}, maximum ${at(1)}.` : '.';
      this.summary.textContent = `${runs}${quantiles} ${number.help}`;
      if (this.hovered !== null && !this.shown.includes(this.hovered)) this.hovered = null;
      this.drawAxes(number);
      this.paint();
      this.drawHistogram(number);
      this.drawGroups(number);
      this.drawRuns(number);
      this.hover(this.hovered ?? this.chosen);
    }

    drawAxes(number) {
      const { scale: { share } } = this;
      const parts = [];
      for (const tick of ticks(this.scale, number.unit, 5)) {
        const y = 234 - 212 * share(tick);
        parts.push(make('line', { class: 'grid', x1: 0, x2: '100%', y1: y, y2: y }));
      }
      for (const [index, [at, text]] of this.data.ticks.entries()) {
        const spare = index % 2 ? ' spare' : '';
        parts.push(make('line', { class: `grid${spare}`, x1: `${at * 100}%`, x2: `${at * 100}%`, y1: 234, y2: 239 }));
        parts.push(make('text', { class: `tick${spare}`, x: `${at * 100}%`, dx: 3, y: 252 }, clean(text)));
      }
      this.axes.replaceChildren(...parts);
    }

    /** Paints the runs; the canvas is as large as the plot on the screen's own pixels. */
    paint() {
      const { canvas, data } = this;
      const { width, height } = canvas.getBoundingClientRect();
      if (!width || !this.shown) return;
      const ratio = globalThis.devicePixelRatio || 1;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      const context = canvas.getContext('2d');
      context.scale(ratio, ratio);
      const style = getComputedStyle(this.root);
      const color = (name) => style.getPropertyValue(`--${name}`).trim();
      const number = data.numbers[this.number];
      const x = (run) => ((run + 0.5) / data.count) * width;
      const y = (value) => 234 - 212 * this.scale.share(value);
      this.positions = { x, y };
      const few = this.shown.length <= 600;
      const radius = few ? 2.8 : 1.7;
      context.fillStyle = color('accent');
      context.globalAlpha = few ? 0.7 : Math.max(0.18, Math.min(0.5, 1800 / this.shown.length));
      for (const run of this.shown) {
        context.beginPath();
        context.arc(x(run), y(number.values[run]), radius, 0, 2 * Math.PI);
        context.fill();
      }
      context.globalAlpha = 1;
      this.paintMedians(context, number, x, y, color);
      context.strokeStyle = color('gc-sync');
      context.fillStyle = color('gc-sync');
      context.font = '600 11px system-ui, sans-serif';
      context.lineWidth = 1.5;
      for (const [run, text] of number.changes) {
        const at = (run / data.count) * width;
        context.setLineDash([4, 3]);
        context.beginPath();
        context.moveTo(at, 4);
        context.lineTo(at, 234);
        context.stroke();
        context.textAlign = at > width * 0.8 ? 'right' : 'left';
        context.fillText(text, at + (at > width * 0.8 ? -5 : 5), 13);
      }
      context.setLineDash([]);
      const isShown = new Set(this.shown);
      for (const run of number.outliers) if (isShown.has(run)) this.mark(context, x(run), number.values[run], y, color('gc'), color('panel'));
      this.paintTicks(context, number, y, color);
      if (this.hovered !== null && isShown.has(this.hovered)) {
        context.strokeStyle = color('ink');
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x(this.hovered), y(number.values[this.hovered]), 7, 0, 2 * Math.PI);
        context.stroke();
      }
    }

    /** Texts of the axis are above the points, on a ground of their own. */
    paintTicks(context, number, y, color) {
      context.font = '11px system-ui, sans-serif';
      context.textAlign = 'left';
      context.lineJoin = 'round';
      for (const tick of ticks(this.scale, number.unit, 5)) {
        const text = amount(number, tick);
        context.strokeStyle = color('panel');
        context.lineWidth = 4;
        context.strokeText(text, 0, y(tick) - 4);
        context.fillStyle = color('ink2');
        context.fillText(text, 0, y(tick) - 4);
      }
    }

    /** Paints the medians of neighboring runs, interrupted by changes. */
    paintMedians(context, number, x, y, color) {
      const { shown } = this;
      const size = Math.max(12, Math.ceil(shown.length / 90));
      if (shown.length < 4 * size) return;
      context.strokeStyle = color('ink');
      context.lineWidth = 1.75;
      const ends = number.changes.map(([run]) => shown.findIndex((own) => own >= run)).filter((place) => place > 0);
      ends.push(shown.length);
      let start = 0;
      for (const end of ends.sort((a, b) => a - b)) {
        const columns = Math.max(1, Math.round((end - start) / size));
        context.beginPath();
        for (let column = 0; column < columns; column += 1) {
          const own = shown.slice(start + ((end - start) * column) / columns, start + ((end - start) * (column + 1)) / columns);
          if (!own.length) continue;
          const middle = y(quantile(Float64Array.from(own, (run) => number.values[run]).sort(), 0.5));
          if (column === 0) context.lineTo(x(own[0]), middle);
          context.lineTo((x(own[0]) + x(own[own.length - 1])) / 2, middle);
          if (column === columns - 1) context.lineTo(x(own[own.length - 1]), middle);
        }
        context.stroke();
        start = end;
      }
    }

    /** Paints an outlier: a diamond, or a triangle if it is beyond the scale. */
    mark(context, x, value, y, stroke, fill) {
      const at = y(value);
      const points = value > this.scale.high ? [[0, -7], [5, 2], [-5, 2]]
        : value < this.scale.low ? [[0, 7], [5, -2], [-5, -2]]
          : [[0, -5.5], [5.5, 0], [0, 5.5], [-5.5, 0]];
      context.beginPath();
      for (const [right, down] of points) context.lineTo(x + right, at + down);
      context.closePath();
      context.fillStyle = fill;
      context.fill();
      context.strokeStyle = stroke;
      context.lineWidth = 1.75;
      context.stroke();
    }

    /** Run next to the pointer, within reach. */
    nearest(event) {
      if (!this.positions) return null;
      const bounds = this.canvas.getBoundingClientRect();
      const [left, top] = [event.clientX - bounds.left, event.clientY - bounds.top];
      const { values } = this.data.numbers[this.number];
      const reach = event.pointerType === 'touch' ? 32 : 18;
      let best = null;
      let least = reach * reach;
      for (const run of this.shown) {
        const across = this.positions.x(run) - left;
        if (Math.abs(across) > reach) continue;
        const distance = across * across + (this.positions.y(values[run]) - top) ** 2;
        if (distance < least) [best, least] = [run, distance];
      }
      return best;
    }

    hover(run) {
      this.hovered = run;
      const number = this.data.numbers[this.number];
      this.readout.textContent = run === null
        ? 'Point at a run to see what it is; click, or press Enter, to choose it. Line: median of neighboring runs.'
        : `${amount(number, number.values[run])}: ${this.name(run)}, ${this.labels(run)}`;
      cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.paint());
    }

    key(event) {
      const place = this.hovered === null ? -1 : this.shown.indexOf(this.hovered);
      const last = this.shown.length - 1;
      const step = event.shiftKey ? Math.max(1, Math.round(last / 20)) : 1;
      const to = { ArrowRight: place + step, ArrowLeft: place < 0 ? last : place - step, Home: 0, End: last }[event.key];
      if (to !== undefined && last >= 0) {
        event.preventDefault();
        this.hover(this.shown[Math.min(Math.max(to, 0), last)]);
      } else if (event.key === 'Enter' && this.hovered !== null) {
        event.preventDefault();
        this.pick(this.hovered);
      } else if (event.key === 'Escape') {
        this.pick(null);
      }
    }

    /** Shows a run with the way to its log. */
    pick(run) {
      this.chosen = run;
      this.card.hidden = run === null;
      if (run === null) return void this.hover(null);
      const number = this.data.numbers[this.number];
      const list = make('dl');
      const row = (name, text) => list.append(make('div', {}, make('dt', {}, name), make('dd', {}, text)));
      row(number.title, amount(number, number.values[run]));
      for (const label of this.data.labels) {
        const value = this.label(run, label);
        if (value !== null) row(capitalized(clean(label.word)), clean(value));
      }
      const address = this.address(run);
      const path = this.path(run);
      const way = make('p', {});
      if (this.options.canOpen?.(run, path)) {
        way.append(make('button', { type: 'button', onclick: () => this.options.open(run, path) }, 'Open the log'), ' ');
      }
      if (address) way.append(make('a', { href: address, rel: 'noopener noreferrer' }, clean(address)), ' ');
      way.append(make('code', {}, clean(path)));
      const close = make('button', { type: 'button', class: 'plain', onclick: () => this.pick(null) }, 'Close');
      this.card.replaceChildren(make('h3', {}, this.name(run)), list, way, close);
      this.hover(run);
    }

    drawHistogram(number) {
      const { sorted } = this;
      const { low, high } = this.scale;
      const spread = Math.ceil(high) - Math.floor(low);
      const isWhole = !this.scale.isLogarithmic && spread >= 1 && spread <= 24 && sorted.every((value) => value % 1 === 0);
      const shown = isWhole ? scale(Math.floor(low) - 0.5, Math.ceil(high) + 0.5, false) : this.scale;
      const width = (2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25))) / Math.cbrt(sorted.length || 1);
      const bins = isWhole ? shown.high - shown.low : Math.min(48, Math.max(8, Math.ceil((high - low) / width) || 8));
      const counts = new Array(bins).fill(0);
      for (const value of sorted) counts[Math.min(bins - 1, Math.floor(shown.share(value) * bins))] += 1;
      const most = Math.max(1, ...counts);
      const parts = [make('line', { class: 'grid', x1: 0, x2: '100%', y1: 234, y2: 234 })];
      counts.forEach((count, bin) => {
        const up = count ? Math.max(1.5, (212 * count) / most) : 0;
        const text = `${amount(number, shown.value(bin / bins))} – ${amount(number, shown.value((bin + 1) / bins))}: ${counted(count, 'run')}`;
        parts.push(make('rect', { class: 'bar', x: `${(bin / bins) * 100}%`, width: `${Math.max(0.1, 100 / bins - 0.3)}%`, y: 234 - up, height: up }, make('title', {}, text)));
      });
      const median = quantile(sorted, 0.5);
      if (sorted.length) {
        const at = shown.share(median) * 100;
        parts.push(make('line', { class: 'middle', x1: `${at}%`, x2: `${at}%`, y1: 4, y2: 234 }));
        parts.push(make('text', { class: 'middle', x: `${at}%`, dx: at > 55 ? -4 : 4, y: 14, 'text-anchor': at > 55 ? 'end' : 'start' }, `median ${amount(number, median)}`));
      }
      for (const tick of ticks(shown, number.unit, 3)) {
        const at = shown.share(tick) * 100;
        parts.push(make('text', { class: 'tick', x: `${at}%`, y: 252, 'text-anchor': at < 6 ? 'start' : at > 94 ? 'end' : 'middle' }, amount(number, tick)));
      }
      this.histogram.replaceChildren(...parts);
      this.histogram.setAttribute('aria-label', `Number of runs by ${number.title}`);
    }

    drawGroups(number) {
      if (!this.by) return void this.groupTable.replaceChildren();
      const { by } = this;
      const own = new Map();
      for (const run of this.shown) {
        const value = by.byRun[run];
        if (!own.has(value)) own.set(value, []);
        own.get(value).push(number.values[run]);
      }
      const groups = [...own].filter(([value]) => value !== MISSING).map(([value, values]) => {
        const sorted = Float64Array.from(values).sort();
        const [p5, p25, p50, p75, p95, max] = [0.05, 0.25, 0.5, 0.75, 0.95, 1].map((share) => quantile(sorted, share));
        return { value, count: sorted.length, p5, p25, p50, p75, p95, max };
      });
      const isOrdered = ['version', 'day', 'ghc', 'capabilities'].includes(by.key);
      groups.sort((a, b) => (isOrdered ? a.value - b.value : b.p50 - a.p50));
      const low = Math.max(Math.min(...groups.map((group) => group.p5)), this.scale.low);
      let high = Math.min(Math.max(...groups.map((group) => group.p95)), this.scale.high);
      if (!(high > low)) high = low + 1;
      const shown = scale(low > 0 && low < 0.4 * high && !this.scale.isLogarithmic ? 0 : low, high, this.scale.isLogarithmic && low > 0);
      const percent = (value) => `${shown.share(value) * 100}%`;
      const rows = groups.map((group) => {
        const text = by.values[group.value];
        const differs = number.differences.find(([key, value]) => key === by.key && value === text);
        const strip = make('svg', { class: differs ? 'strip differs' : 'strip', width: '100%', height: 18, 'aria-hidden': 'true' },
          make('line', { class: 'range', x1: percent(group.p5), x2: percent(group.p95), y1: 9, y2: 9 }),
          make('rect', { class: 'box', x: percent(group.p25), width: `${Math.max(0.4, (shown.share(group.p75) - shown.share(group.p25)) * 100)}%`, y: 4, height: 10 }),
          make('line', { class: 'median', x1: percent(group.p50), x2: percent(group.p50), y1: 2, y2: 16 }));
        const only = make('button', { type: 'button', class: 'plain', title: 'Only these runs', onclick: () => this.filter(by.key, group.value) }, clean(text));
        return make('tr', {}, make('th', { scope: 'row' }, only), make('td', {}, strip),
          ...[group.count.toLocaleString('en'), ...['p5', 'p50', 'p95', 'max'].map((key) => amount(number, group[key]))].map((text) => make('td', { class: 'number' }, text)),
          make('td', {}, differs ? differs[2] : ''));
      });
      const ends = make('span', { class: 'scale' }, make('span', {}, amount(number, shown.low)), make('span', {}, amount(number, shown.high)));
      const head = make('tr', {}, make('th', { scope: 'col' }, capitalized(clean(by.word))), make('th', { scope: 'col' }, ends),
        ...['Runs', '5 %', 'Median', '95 %', 'Max'].map((text) => make('th', { scope: 'col', class: 'number' }, text)), make('th', { scope: 'col' }, 'Differs'));
      const caption = `By ${clean(by.word)}. Line: nine of ten runs; box: half of them; mark: median.`;
      this.groupTable.setAttribute('aria-label', caption);
      this.groupTable.replaceChildren(make('table', { class: 'groups' }, make('caption', {}, caption), make('thead', {}, head), make('tbody', {}, ...rows)));
    }

    drawRuns(number) {
      const byValue = [...this.shown].sort((a, b) => number.values[b] - number.values[a]);
      if (number.direction === 'higher') byValue.reverse();
      const rows = byValue.slice(0, this.rows).map((run) => {
        const name = make('button', { type: 'button', class: 'plain', onclick: () => this.show(run) }, this.name(run));
        return make('tr', {}, make('th', { scope: 'row' }, name), make('td', { class: 'number' }, amount(number, number.values[run])),
          ...this.divisions.map((label) => make('td', {}, clean(this.label(run, label) ?? ''))), make('td', { class: 'path' }, clean(this.path(run))));
      });
      const head = make('tr', {}, make('th', { scope: 'col' }, 'Run'), make('th', { scope: 'col', class: 'number' }, number.title),
        ...this.divisions.map((label) => make('th', { scope: 'col' }, capitalized(clean(label.word)))), make('th', { scope: 'col' }, 'Log'));
      const worst = number.direction === 'higher' ? 'least first' : 'greatest first';
      const caption = `Runs, ${worst}${byValue.length > this.rows ? `, ${this.rows} of ${byValue.length.toLocaleString('en')}` : ''}`;
      const more = byValue.length > this.rows
        ? make('button', { type: 'button', onclick: () => { this.rows += MORE_ROWS; this.drawRuns(number); } }, `Show ${Math.min(MORE_ROWS, byValue.length - this.rows)} more`)
        : null;
      this.runTable.replaceChildren(make('table', { class: 'runs' }, make('caption', {}, caption), make('thead', {}, head), make('tbody', {}, ...rows)));
      if (more) this.runTable.append(more);
    }

    /** Shows a run that was chosen elsewhere on the page. */
    show(run) {
      this.pick(run);
      this.card.scrollIntoView({ block: 'center' });
      this.card.querySelector('button, a')?.focus({ preventScroll: true });
    }
  }

  /** Starts the explorer. */
  function start(element, options = {}) {
    const section = document.getElementById('numbers');
    if (!element || !section) return null;
    const explorer = new Explorer(decoded(element.textContent), options);
    section.append(explorer.root);
    document.body.classList.add('script');
    explorer.update();
    for (const link of document.querySelectorAll('[data-number]')) {
      link.addEventListener('click', (event) => {
        event.preventDefault();
        explorer.choose({ number: Number(link.dataset.number) });
        explorer.writeHash();
        section.scrollIntoView();
      });
    }
    for (const name of document.querySelectorAll('[data-run]')) {
      const run = Number(name.dataset.run);
      // Links lead to the log themselves.
      if (name.tagName === 'A') continue;
      const button = make('button', { type: 'button', class: 'plain run', title: name.title, onclick: () => explorer.show(run) }, name.textContent);
      name.replaceWith(button);
    }
    section.addEventListener('change', () => explorer.writeHash());
    return explorer;
  }

  globalThis.eventscopeFleet = start;
  const element = document.getElementById('fleet-data');
  if (element) start(element);
})();
