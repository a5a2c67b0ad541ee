"use strict";
// Draws the report from the data in this file. Whatever came from a model or a server becomes text nodes, never markup.
(() => {
  // ---- Elements -------------------------------------------------------------------------------------------------------------------

  // An element with attributes, listeners (functions) and children (nodes, texts, lists of them, or nothing).
  function el(name, attributes, ...children) {
    const [tag, ...classes] = name.split(".");
    const node = document.createElement(tag || "div");
    if (classes.length) node.className = classes.join(" ");
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (typeof value === "function") node.addEventListener(key, value);
      else node.setAttribute(key, value === true ? "" : String(value));
    }
    return put(node, ...children);
  }
  function put(node, ...children) {
    for (const child of children.flat(Infinity)) {
      if (child === undefined || child === null || child === false) continue;
      if (child instanceof Node) node.append(child);
      else node.append(seen(String(child)));
    }
    return node;
  }

  // Characters that steer, reorder or hide text. Line feeds and tabs lay text out and stay.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
  // A text in which they are shown by their numbers.
  function seen(text) {
    HIDDEN.lastIndex = 0;
    if (!HIDDEN.test(text)) return document.createTextNode(text);
    const out = document.createDocumentFragment();
    let from = 0;
    HIDDEN.lastIndex = 0;
    for (let found; (found = HIDDEN.exec(text)); ) {
      out.append(text.slice(from, found.index));
      const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      const mark = document.createElement("span");
      mark.className = "hidden-character";
      mark.textContent = "U+" + code;
      out.append(mark);
      from = found.index + found[0].length;
    }
    out.append(text.slice(from));
    return out;
  }

  // ---- Data -----------------------------------------------------------------------------------------------------------------------

  const index = JSON.parse(document.getElementById("index").textContent);
  const loaded = new Promise((done) => {
    if (document.readyState !== "loading") done();
    else document.addEventListener("DOMContentLoaded", () => done());
  });
  const unpacked = new Map(); // chunk -> promise of its values; the least used is let go first
  const KEPT = 48;

  async function unpack(name) {
    if (!document.getElementById(name)) await loaded;
    const packed = document.getElementById(name).textContent;
    const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(packed) : Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }
  function chunk(name) {
    const found = unpacked.get(name) || unpack(name);
    unpacked.delete(name);
    unpacked.set(name, found);
    if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
    return found;
  }
  async function value(store, firsts, number) {
    let low = 0;
    for (let high = firsts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (firsts[middle] <= number) low = middle;
      else high = middle - 1;
    }
    return (await chunk(`${store}-${low}`))[number - firsts[low]];
  }
  const pageOf = (number) => value("page", index.page_chunks, number);
  const textOf = (number) => value("text", index.text_chunks, number);
  window.planforge = { el, put, seen, index, pageOf, textOf };

  const main = document.getElementById("main");
  put(
    main,
    el("h1", {}, index.title),
    index.cells.map((cell) => el("p", {}, `${cell.suite} ${cell.pipeline} ${cell.seed}: ${cell.state}`)),
  );
})();
