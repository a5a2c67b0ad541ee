// Texts as they are, and PDDL with what was found in it at its place.

import { badge, el, figure, plain, put, textOf } from "./base.js";
import { shown } from "./list.js";

const MOST_CHARACTERS = 20000;
const MOST_LINES = 1500;

// A text by its number.
export function textBlock(number, kind) {
  const node = el("div.text");
  shown(node, async () => block(await textOf(number), kind));
  return node;
}

export function block(text, kind) {
  const pre = el("pre", { class: kind, tabindex: 0 });
  const copy = el("button.copy", { type: "button", title: "Copy the text", click: () => copied(copy, text) }, "copy");
  if (text.length <= MOST_CHARACTERS) return [copy, put(pre, text || "(empty)")];
  put(pre, text.slice(0, MOST_CHARACTERS));
  const all = el("button", { type: "button" }, `Show all ${figure(text.length)} characters`);
  all.addEventListener("click", () => {
    pre.replaceChildren();
    put(pre, text);
    all.remove();
  });
  return [copy, pre, all];
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    button.textContent = "not allowed";
  }
  setTimeout(() => (button.textContent = "copy"), 1500);
}

const KEYWORDS = new Set(
  ("define domain problem and or not forall exists imply when either increase decrease assign minimize maximize total-cost " +
    "at over all start end").split(" "),
);

// A piece of PDDL with its words marked, so that it reads like code.
function pddlWords(text) {
  const out = document.createDocumentFragment();
  const words = /;[^\n]*|\?[^\s()]+|:[a-zA-Z][\w-]*|[a-zA-Z][\w-]*/g;
  let from = 0;
  for (const found of text.matchAll(words)) {
    const word = found[0];
    const kind = word[0] === ";" ? "comment" : word[0] === "?" ? "variable" : word[0] === ":" ? "section" : KEYWORDS.has(word.toLowerCase()) ? "keyword" : "";
    if (!kind) continue;
    put(out, text.slice(from, found.index), el(`span.${kind}`, {}, word));
    from = found.index + word.length;
  }
  return put(out, text.slice(from));
}

// Where a diagnostic lies in a text, in characters of a JavaScript string; nothing where it has no place there.
function placeOf(diagnostic, bytes, text) {
  if (!diagnostic.line) return null;
  if (diagnostic.end <= bytes.length && diagnostic.start <= diagnostic.end) {
    const start = new TextDecoder().decode(bytes.subarray(0, diagnostic.start)).length;
    const length = new TextDecoder().decode(bytes.subarray(diagnostic.start, diagnostic.end)).length;
    const line = text.slice(0, start).split("\n").length;
    if (line === diagnostic.line) return { start, end: start + Math.max(1, length) };
  }
  const lines = text.split("\n");
  if (diagnostic.line > lines.length) return null;
  let start = 0;
  for (let i = 0; i < diagnostic.line - 1; i++) start += lines[i].length + 1;
  start += Array.from(lines[diagnostic.line - 1]).slice(0, Math.max(0, diagnostic.column - 1)).join("").length;
  return { start, end: start + 1 };
}

// PDDL with line numbers. Each diagnostic is underlined, and told below its line.
export function pddlView(text, diagnostics) {
  const bytes = new TextEncoder().encode(text);
  const placed = [];
  const loose = [];
  for (const diagnostic of diagnostics) {
    const place = placeOf(diagnostic, bytes, text);
    if (place) placed.push({ ...place, diagnostic });
    else loose.push(diagnostic);
  }
  const lines = text.split("\n");
  const view = el("div.pddl", { tabindex: 0, role: "group", "aria-label": "PDDL with line numbers" });
  let at = 0;
  let drawn = 0;
  const draw = (until) => {
    for (; drawn < until; drawn++) {
      const line = lines[drawn];
      const here = placed.filter((p) => p.start < at + line.length + 1 && p.end > at);
      const begins = placed.filter((p) => p.start >= at && p.start <= at + line.length);
      view.append(el("div.pddl-line", {}, el("span.number", {}, drawn + 1), el("code", {}, underlined(line, at, here))));
      for (const found of begins) view.append(el("div.found", {}, el("span.number"), finding(found.diagnostic)));
      at += line.length + 1;
    }
  };
  draw(Math.min(lines.length, MOST_LINES));
  const more = el("button", { type: "button" }, `Show all ${figure(lines.length)} lines`);
  more.addEventListener("click", () => {
    draw(lines.length);
    more.remove();
  });
  const copy = el("button.copy", { type: "button", title: "Copy the text", click: () => copied(copy, text) }, "copy");
  return el("div.text", {}, copy, loose.map((d) => finding(d)), view, drawn < lines.length && more);
}

function underlined(line, at, here) {
  if (!here.length) return pddlWords(line);
  const cuts = new Set([0, line.length]);
  for (const p of here) {
    cuts.add(Math.min(line.length, Math.max(0, p.start - at)));
    cuts.add(Math.min(line.length, Math.max(0, p.end - at)));
  }
  const sorted = [...cuts].sort((a, b) => a - b);
  const order = ["error", "warning", "advice"];
  const parts = [];
  for (let i = 0; i + 1 < sorted.length; i++) {
    const covering = here.filter((p) => p.start - at <= sorted[i] && p.end - at >= sorted[i + 1]);
    const piece = pddlWords(line.slice(sorted[i], sorted[i + 1]));
    if (!covering.length) parts.push(piece);
    else {
      const worst = order.find((severity) => covering.some((p) => p.diagnostic.severity === severity)) || "advice";
      const words = covering.map((p) => plain(p.diagnostic.message)).join("\n");
      parts.push(el(`mark.${worst}`, { title: words }, piece));
    }
  }
  return parts;
}

// A diagnostic in words.
export function finding(diagnostic, withPlace) {
  const place = withPlace && diagnostic.line ? `${diagnostic.file}:${diagnostic.line}:${diagnostic.column} ` : "";
  return el(
    `p.finding.is-${diagnostic.severity}`,
    {},
    el("strong", {}, diagnostic.severity),
    ` ${place}`,
    diagnostic.message,
    " ",
    el("code", {}, diagnostic.code),
    diagnostic.stage && el("span.from", {}, ` ${diagnostic.stage}`),
    (diagnostic.help || []).map((help) => el("span.help", {}, help)),
  );
}

// What broke.
export function failureView(failure) {
  return el(
    "div.failure",
    {},
    badge("failed"),
    " ",
    failure.message,
    " ",
    el("code", {}, failure.code || failure.class),
    failure.status && el("span", {}, ` HTTP ${failure.status}`),
    failure.place && el("span", {}, ` at ${failure.place}`),
    failure.help && el("p.help", {}, failure.help),
    (failure.diagnostics || []).map((d) => finding(d, true)),
  );
}
