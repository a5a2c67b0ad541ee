// Elements, and the data of a report. Whatever came from a model or a server becomes text nodes, never markup.

// An element `tag.class` with attributes, listeners (functions) and children: nodes, texts, lists of them, or nothing.
export function el(name, attributes, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  return put(node, children);
}

export function put(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : seen(String(child)));
  }
  return node;
}

// Characters that steer, reorder or hide text, and halves of pairs. Line feeds and tabs lay text out and stay.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb" +
    "\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]",
  "gu",
);

// A text in which such characters are shown by their numbers.
function seen(text) {
  HIDDEN.lastIndex = 0;
  if (!HIDDEN.test(text)) return document.createTextNode(text);
  const out = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > from) out.append(text.slice(from, found.index));
    const mark = document.createElement("span");
    mark.className = "hidden-character";
    mark.textContent = "U+" + found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    out.append(mark);
    from = found.index + found[0].length;
  }
  out.append(text.slice(from));
  return out;
}

// The same as plain text, for titles and labels of controls.
export const plain = (text) =>
  String(text).replace(HIDDEN, (c) => "<U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + ">");

// The data that is shown: `index`, and the source of its chunks. A page that watches a run opens newer data in its place.
export let index = null;
export let note = "";
let source = null;

// Chunk -> promise of its values. The one that was not used for the longest time is let go first.
let unpacked = new Map();
const MOST_UNPACKED = 48;

// `data.index` is the index, `data.chunk(name)` promises the values of a chunk, `data.note` stands at the end of the larger parts.
// `data.tasks(run, from, to)` promises the pages of tasks that have none yet, with the further chunks that they are in.
export function openData(data) {
  source = data;
  index = data.index;
  note = data.note;
  unpacked = new Map();
}

function chunk(name) {
  const found = unpacked.get(name) || source.chunk(name);
  unpacked.delete(name);
  unpacked.set(name, found);
  if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
  found.catch(() => unpacked.delete(name));
  return found;
}

// The value of that number in a store whose chunks begin at these numbers.
async function valueOf(store, firsts, number) {
  let low = 0;
  for (let high = firsts.length - 1; low < high; ) {
    const middle = (low + high + 1) >> 1;
    if (firsts[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return (await chunk(`${store}-${low}`))[number - firsts[low]];
}

export const pageOf = (number) => valueOf("page", index.page_chunks, number);
export const textOf = (number) => valueOf("text", index.text_chunks, number);

// The pages of tasks of a cell, from one place in its table to before another.
export async function taskPages(cell, from, to) {
  const of = index;
  const entries = (await pageOf(cell.page)).tasks.slice(from, to);
  if (entries.some((entry) => entry.page === undefined)) {
    const { pages, ...chunks } = await source.tasks(of.cells.indexOf(cell), from, from + entries.length);
    pages.forEach((page, i) => (entries[i].page = page));
    // Answers may overtake each other; chunks are only ever added.
    for (const store of Object.keys(chunks)) if (chunks[store].length > of[store].length) of[store] = chunks[store];
  }
  return Promise.all(entries.map((entry) => pageOf(entry.page)));
}

// ---- Words and figures ---------------------------------------------------------------------------------------------------------------

export const count = (n, one, many) => `${figure(n)} ${n === 1 ? one : many || one + "s"}`;
export const figure = (n) => (Number.isInteger(n) ? n.toLocaleString("en-US") : String(n));
export const score = (x) => (x === null || x === undefined ? "-" : Number.isInteger(x) ? String(x) : x.toFixed(Math.abs(x) < 10 ? 3 : 1));

export function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000);
  const seconds = Math.round((ms % 60000) / 1000);
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// A recorded time (UTC) in the zone of the reader.
export function clock(text) {
  const time = new Date(text);
  return isNaN(time) ? text : el("time", { datetime: text, title: text }, time.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" }));
}

// Dollars; a price or a count that is unknown never reads as free.
export const money = (cost) =>
  cost === undefined || cost === null ? "unknown" : `$${cost < 0.995 ? Number(cost.toPrecision(2)) : cost.toFixed(2)}`;

// A word with the colour of what it means; the colour never stands alone.
export function badge(word, kind) {
  return el(`span.badge.is-${kind || word.replace(/ /g, "-")}`, {}, word);
}

// ---- Addresses -----------------------------------------------------------------------------------------------------------------------

export const address = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

// Filters of the view that is shown stand after `?`, so that an address shows the same lines to a colleague.
const filterText = () => location.hash.split("?")[1] || "";
export const filters = () => Object.fromEntries(new URLSearchParams(filterText()));
export const keptFilters = () => (filterText() ? `?${filterText()}` : "");

export function setFilters(values) {
  const used = new URLSearchParams(Object.entries({ ...filters(), ...values }).filter(([, value]) => value));
  const path = location.hash.split("?")[0] || "#/";
  history.replaceState(history.state, "", `${path}${used.size ? `?${used}` : ""}`);
}

export const link = (to, ...children) => el("a", { href: to }, children);
export const columnOf = (cell) => (cell.model ? `${cell.pipeline}@${cell.model}` : cell.pipeline);
export const cellParts = (cell) => [cell.suite || "-", columnOf(cell), String(cell.seed)];
