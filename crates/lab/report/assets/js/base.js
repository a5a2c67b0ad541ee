// Elements, and the data of this file. Whatever came from a model or a server becomes text nodes, never markup.

// An element `tag.class` with attributes, listeners (functions) and children: nodes, texts, lists of them, or nothing.
function el(name, attributes, ...children) {
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

function put(node, ...children) {
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
const plain = (text) =>
  String(text).replace(HIDDEN, (c) => "<U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + ">");

const index = JSON.parse(document.getElementById("index").textContent);

const loaded = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done());
});

// Chunk -> promise of its values. The one that was not used for the longest time is let go first.
const unpacked = new Map();
const MOST_UNPACKED = 48;

async function unpack(name) {
  // The page draws its first table while the rest of the file is still being read.
  if (!document.getElementById(name)) await loaded;
  const packed = document.getElementById(name).textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(packed)
    : Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function chunk(name) {
  const found = unpacked.get(name) || unpack(name);
  unpacked.delete(name);
  unpacked.set(name, found);
  if (unpacked.size > MOST_UNPACKED) unpacked.delete(unpacked.keys().next().value);
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

const pageOf = (number) => valueOf("page", index.page_chunks, number);
const textOf = (number) => valueOf("text", index.text_chunks, number);

// ---- Words and figures ---------------------------------------------------------------------------------------------------------------

const count = (n, one, many) => `${figure(n)} ${n === 1 ? one : many || one + "s"}`;
const figure = (n) => (Number.isInteger(n) ? n.toLocaleString("en-US") : String(n));
const score = (x) => (x === null || x === undefined ? "-" : Number.isInteger(x) ? String(x) : x.toFixed(Math.abs(x) < 10 ? 3 : 1));

function duration(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000);
  const seconds = Math.round((ms % 60000) / 1000);
  return minutes < 60 ? `${minutes} min ${seconds} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Dollars; a price or a count that is unknown never reads as free.
const money = (cost) =>
  cost === undefined || cost === null ? "unknown" : `$${cost < 0.995 ? Number(cost.toPrecision(2)) : cost.toFixed(2)}`;

// A word with the colour of what it means; the colour never stands alone.
function badge(word, kind) {
  return el(`span.badge.is-${kind || word.replace(/ /g, "-")}`, {}, word);
}

// ---- Addresses -----------------------------------------------------------------------------------------------------------------------

const address = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");
const link = (to, ...children) => el("a", { href: to }, children);
const columnOf = (cell) => (cell.model ? `${cell.pipeline}@${cell.model}` : cell.pipeline);
const cellParts = (cell) => [cell.suite || "-", columnOf(cell), String(cell.seed)];
