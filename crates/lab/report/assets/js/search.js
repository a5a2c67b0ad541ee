// Full-text search over the prompts, replies and thoughts of all calls.

import { address, badge, cellParts, columnOf, count, el, index, link, pageOf, put, taskPages, textOf } from "./base.js";

const MOST_HITS = 200;
// A server writes their pages for one call.
const TASKS_AT_A_TIME = 50;

// Starts the search and returns the page, which fills while it goes on. `isOver` is true once another page is shown.
export function searchPage(words, isOver) {
  const status = el("p.note", { role: "status" });
  const list = el("ol.hits");
  const page = [el("h1", {}, "Search: ", words), status, list];
  if (words) search(words, isOver, status, list).catch((error) => put(status, ` The search stopped: ${error.message || error}`));
  return page;
}

// The tasks of a cell with their pages, some of them at a time.
async function* tasksOf(cell) {
  const { tasks } = await pageOf(cell.page);
  for (let from = 0; from < tasks.length; from += TASKS_AT_A_TIME) {
    const pages = await taskPages(cell, from, from + TASKS_AT_A_TIME);
    yield* pages.map((page, i) => [tasks[from + i], page]);
  }
}

async function search(words, isOver, status, list) {
  const began = performance.now();
  const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "iu");
  // Number of a text -> where it was found; null if the words are not in it. Most prompts are sent many times.
  const known = new Map();
  const hits = [];
  let calls = 0;
  const told = (state) => (status.textContent = `${state}${count(hits.length, "text")} found; ${count(calls, "call")} searched.`);
  async function look(number, kind, to, name) {
    if (!known.has(number)) {
      const text = await textOf(number);
      const found = pattern.exec(text);
      const hit = found && { calls: 0, more: el("span.thin") };
      known.set(number, hit);
      if (hit && hits.push(hit) <= MOST_HITS) {
        const [from, end] = [found.index, found.index + found[0].length];
        const before = (from > 80 ? "\u2026" : "") + text.slice(Math.max(0, from - 80), from);
        list.append(el("li", {}, badge(kind, "unfinished"), " ", link(to, name), hit.more, el("p.hit", {}, before, el("strong", {}, found[0]), text.slice(end, end + 120))));
      }
    }
    const hit = known.get(number);
    if (hit) hit.calls++;
  }
  for (const cell of index.cells.filter((cell) => cell.page !== undefined)) {
    for await (const [entry, task] of tasksOf(cell)) {
      for (let i = 0; i < task.calls.page.length; i++) {
        const call = await pageOf(task.calls.page[i]);
        const path = task.calls.path[i];
        const to = address(...cellParts(cell), entry.task, "call", path);
        const name = [index.cells.length > 1 && `${columnOf(cell)} `, `${entry.task} ${path}`];
        for (const turn of call.messages) await look(turn.text, "prompt", to, name);
        for (const reply of call.replies) {
          await look(reply.text, "reply", to, name);
          if (reply.thought !== undefined) await look(reply.thought, "thought", to, name);
        }
        if (isOver()) return;
        if (++calls % 1000 === 0) told("Searching: ");
      }
    }
  }
  for (const hit of hits) put(hit.more, hit.calls > 1 && ` and ${count(hit.calls - 1, "further call")}`);
  told("");
  if (hits.length > MOST_HITS) put(status, ` The first ${MOST_HITS} are shown.`);
  performance.measure("search", { start: began, end: performance.now() });
}
