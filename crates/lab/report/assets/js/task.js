// A task: the lineage of its candidates as a tree, its calls, rounds and accounts.

import { address, badge, cellParts, count, el, figure, filters, keptFilters, link, pageOf, plain, score, setFilters, taskPages } from "./base.js";
import { besideCells, besideView } from "./beside.js";
import { callsView } from "./calls.js";
import { candidateView } from "./candidate.js";
import { fold, lazyList, shown, table } from "./list.js";
import { accounts, alike } from "./overview.js";
import { accountView, roundsView, searchView } from "./rounds.js";
import { failureView, textBlock } from "./text.js";

// What is known of a task whose page was unpacked last; candidates are looked up in it.
let openTask = null;

export async function taskOf(cell, name) {
  if (openTask && openTask.cell === cell && openTask.name === name) return openTask;
  const page = await pageOf(cell.page);
  const place = page.tasks.findIndex((task) => task.task === name);
  if (place < 0) return null;
  const entry = page.tasks[place];
  const [task] = await taskPages(cell, place, place + 1);
  openTask = { cell, name, entry, task, tree: grown(task.tree), decisions: stageOrder(task, Object.keys(task.tree.decisions)) };
  return openTask;
}

// The tree with what is derived from its columns: paths, children, depths, and what stands behind each line.
function grown(tree) {
  const n = tree.label.length;
  const indices = new Array(n);
  const children = Array.from({ length: n }, () => []);
  const depth = new Int32Array(n);
  const indent = new Int32Array(n);
  const roots = [];
  const at = new Map();
  const start = tree.start || {};
  for (let i = 0; i < n; i++) {
    const parent = tree.parent[i];
    const above = parent >= 0 ? indices[parent] : start[i];
    indices[i] = above ? `${above}.${tree.sample[i]}` : String(tree.sample[i]);
    at.set(`${tree.labels[tree.label[i]]}/${indices[i]}`, i);
    if (parent >= 0) children[parent].push(i);
    else roots.push(i);
    depth[i] = parent >= 0 ? depth[parent] + 1 : 0;
  }
  // An only child stands below its parent without going in: eighty rounds of one line stay one line.
  for (let i = 0; i < n; i++) {
    const parent = tree.parent[i];
    indent[i] = parent < 0 ? 0 : indent[parent] + (children[parent].length > 1 || depth[parent] === 0 ? 1 : 0);
  }
  const sets = (map) => Object.fromEntries(Object.entries(map).map(([stage, list]) => [stage, new Set(list)]));
  return { ...tree, n, indices, children, depth, indent, roots, at, keptSets: sets(tree.kept), droppedSets: sets(tree.dropped), bestSet: new Set(tree.best) };
}

export const nodeName = (tree, i) => `${tree.labels[tree.label[i]]}/${tree.indices[i]}`;
// The place of a path as the record writes it, `TASK/LABEL/INDICES`.
export const placeOfPath = (task, path) => task.tree.at.get(path.startsWith(task.name + "/") ? path.slice(task.name.length + 1) : path);

export function nodeLink(task, path) {
  const name = path.startsWith(task.name + "/") ? path.slice(task.name.length + 1) : path;
  return task.tree.at.has(name) ? link(address(...cellParts(task.cell), task.name, "candidate", name), name) : el("code", {}, name);
}

const VIEWS = [
  ["tree", "Candidates", (t) => t.tree.n],
  ["stages", "Stages", (t) => t.decisions.length || t.task.selections.length],
  ["calls", "Calls", (t) => t.task.calls.path.length],
  ["rounds", "Rounds", (t) => t.task.rounds.length],
  ["search", "Budget", (t) => t.task.pulls.length],
  ["beside", "Side by side", (t) => besideCells(t).length],
  ["account", "Account", () => undefined],
];

export async function taskPage(cell, name, view, rest) {
  const task = await taskOf(cell, name);
  if (!task) return [el("h1", {}, "No such task"), el("p.note", {}, name)];
  const active = view === "candidate" || !view ? "tree" : view === "call" ? "calls" : view;
  const base = [...cellParts(cell), name];
  const tabs = VIEWS.filter(([id, , n]) => id === "tree" || n(task) !== 0).map(([id, word, n]) =>
    el("a", { href: address(...base, id), "aria-current": id === active ? "page" : null }, word, n(task) !== undefined && el("span.thin", {}, ` ${figure(n(task))}`)),
  );
  const body = el("div.view");
  shown(body, () => {
    if (active === "tree") return treeView(task, view === "candidate" ? rest : shownFirst(task), view === "candidate" || !view);
    if (active === "stages") return stagesView(task);
    if (active === "beside") return besideView(task, rest);
    if (active === "calls") return callsView(task, view === "call" ? rest : null);
    if (active === "rounds") return roundsView(task);
    if (active === "search") return searchView(task);
    return accountView(task);
  });
  return [taskHead(task), el("nav.tabs", { "aria-label": "Views of the task" }, tabs), body];
}

function taskHead(task) {
  const { entry, task: page } = task;
  const said = page.verdict && (page.verdict.message || (page.verdict.failure && page.verdict.failure.message));
  return el(
    "div.head",
    {},
    el("h1", {}, entry.task, " ", badge(entry.outcome)),
    page.verdict && (said || !alike(entry)) && el("p.verdict", {}, badge(page.verdict.verdict), page.verdict.stage && [" at ", el("code", {}, page.verdict.stage)], said && [": ", el("span.clamp", { title: "" }, said)]),
    page.tree.answer !== undefined && el("p", {}, "The verdict is about ", nodeLink(task, nodeName(task.tree, page.tree.answer)), "."),
    page.texts.length > 0 && fold("Text of the task", () => page.texts.map(([title, text]) => [el("h3", {}, title), textBlock(text, "prose")])),
  );
}

// ---- The tree ------------------------------------------------------------------------------------------------------------------------

const LETTERS = { a: "accepted", r: "rejected", u: "undecided", c: "not-comparable" };

// The candidate that a task opens with: the answer, else one that a stage kept, else the first.
export function shownFirst(task) {
  const { tree } = task;
  const place = tree.answer ?? Object.values(tree.kept).flat()[0] ?? Math.max(0, tree.page.findIndex((page) => page >= 0));
  return tree.n ? nodeName(tree, place) : null;
}

// `isAlone` on a narrow screen: the candidate without the list.
function treeView(task, chosenName, isAlone) {
  const tree = task.tree;
  if (!tree.n) return el("p.note", {}, "No candidates: ", task.task.calls.path.length ? "all replies failed, or none arrived." : "no request was sent.");
  const { only = "", metric = defaultMetric(tree), candidates: filter = "" } = filters();
  const state = { closed: (task.closed ??= new Set()), filter, only, metric };
  const detail = el("div.detail");
  let lines = [];
  const list = lazyList({
    height: 30,
    label: "Candidates",
    role: "tree",
    row: (i) => treeLine(task, lines[i], state, toggle),
    open: (i) => (location.hash = address(...cellParts(task.cell), task.name, "candidate", nodeName(tree, lines[i])) + keptFilters()),
    attributes: (i) => ({
      "aria-level": tree.depth[lines[i]] + 1,
      "aria-expanded": tree.children[lines[i]].length && !state.filter && !state.only ? String(!state.closed.has(lines[i])) : null,
    }),
    keys: (i, key) => {
      const node = lines[i];
      const isClosed = state.closed.has(node);
      if (key === "ArrowRight" && isClosed) toggle(node);
      else if (key === "ArrowLeft" && tree.children[node].length && !isClosed) toggle(node);
      else if (key === "ArrowLeft" && tree.parent[node] >= 0) list.choose(lines.indexOf(tree.parent[node]));
      else return false;
      return true;
    },
  });
  function toggle(node) {
    if (!state.closed.delete(node)) state.closed.add(node);
    refresh();
  }
  const shownCount = el("span.thin", { role: "status" });
  function refresh() {
    lines = linesOf(task, state);
    list.set(lines.length);
    shownCount.textContent = lines.length === tree.n ? count(tree.n, "candidate") : `${figure(lines.length)} of ${count(tree.n, "candidate")}`;
    const at = chosenName ? lines.indexOf(tree.at.get(chosenName)) : -1;
    if (at >= 0) list.choose(at);
  }
  const split = el("div.split", { class: isAlone ? "split has-detail" : "split" }, el("div.side", {}, treeTools(tree, state, refresh, shownCount), list.node), detail);
  queueMicrotask(refresh);
  shown(detail, () => candidateView(task, chosenName));
  return split;
}

// By what candidates are shown to be compared at first: what the pipeline chose by, else a walk score, else what there is.
function defaultMetric(tree) {
  const names = Object.keys(tree.metrics);
  const by = tree.by && names.find((name) => name === tree.by || `candidate.${name}` === tree.by);
  return by || names.find((name) => name.endsWith(".score") || name.endsWith(".ew")) || names[0] || "";
}

function treeTools(tree, state, refresh, status) {
  const metrics = Object.keys(tree.metrics);
  const filter = el("input", {
    type: "search",
    placeholder: "Filter: stage, samples, verdict, failure",
    "aria-label": "Filter candidates",
    value: state.filter,
    input: () => {
      state.filter = filter.value.trim().toLowerCase();
      setFilters({ candidates: state.filter });
      refresh();
    },
  });
  const only = el("select", { "aria-label": "Candidates shown", change: () => ((state.only = only.value), setFilters({ only: state.only }), refresh()) });
  for (const [value, word] of [["", "all"], ["kept", "kept by a selection"], ["best", "best of a round"], ["line", "ancestors of the answer"], ["accepted", "accepted by every stage that decides"], ["failed", "broken samples"]]) {
    only.append(el("option", { value, selected: state.only === value }, word));
  }
  const metric = el("select", { "aria-label": "Shown metric", change: () => ((state.metric = metric.value), setFilters({ metric: state.metric }), refresh()) }, metrics.map((name) => el("option", { value: name, selected: name === state.metric }, name)));
  const all = el("button", { type: "button", click: () => (state.closed.clear(), refresh()) }, "open all");
  const none = el("button", { type: "button", click: () => (tree.children.forEach((children, i) => children.length && state.closed.add(i)), refresh()) }, "close all");
  const deep = tree.children.some((children) => children.length);
  return el("div.tools", {}, filter, only, metrics.length > 0 && metric, deep && all, deep && none, status);
}

function linesOf(task, state) {
  const { tree } = task;
  if (state.filter || state.only) {
    const answerLine = new Set();
    for (let i = tree.answer ?? -1; i >= 0; i = tree.parent[i]) answerLine.add(i);
    const fits = [];
    for (let i = 0; i < tree.n; i++) if (isWanted(task, i, state.only, answerLine) && wordsOf(tree, i).includes(state.filter)) fits.push(i);
    return fits;
  }
  const lines = [];
  for (let i = 0; i < tree.n; i++) {
    lines.push(i);
    // Nodes stand in the tree's order, so what is below a closed one follows it.
    if (state.closed.has(i)) {
      const depth = tree.depth[i];
      while (i + 1 < tree.n && tree.depth[i + 1] > depth) i++;
    }
  }
  return lines;
}

function isWanted(task, i, only, answerLine) {
  const { tree } = task;
  if (!only) return true;
  if (only === "failed") return tree.failed[i] !== undefined;
  if (only === "best") return tree.bestSet.has(i);
  if (only === "line") return answerLine.has(i);
  if (only === "kept") return Object.values(tree.keptSets).some((set) => set.has(i));
  const said = decisionOf(task, i);
  return said !== null && said.decision === "accepted";
}

function wordsOf(tree, i) {
  const words = [nodeName(tree, i)];
  for (const [stage, column] of Object.entries(tree.decisions)) if (column[i] !== "-") words.push(`${stage} ${LETTERS[column[i]]}`);
  if (tree.failed[i]) words.push("failed", tree.failed[i].code, tree.failed[i].message);
  if (tree.planned[i]) words.push(tree.planned[i]);
  if (tree.answer === i) words.push("answer");
  return words.join(" ").toLowerCase();
}

function treeLine(task, i, state, toggle) {
  const tree = task.tree;
  const isFlat = state.filter || state.only;
  const children = tree.children[i].length;
  const space = el(tree.parent[i] < 0 && i > 0 ? "span.indent.begins" : "span.indent");
  space.style.width = `${(isFlat ? 0 : Math.min(tree.indent[i], 10)) * 16}px`;
  const twist = children && !isFlat
    ? el("span.twist", { "aria-hidden": "true", click: (event) => (event.preventDefault(), toggle(i)) }, state.closed.has(i) ? "\u25b8" : "\u25be")
    : el("span.twist");
  const value = state.metric && tree.metrics[state.metric] ? tree.metrics[state.metric][i] : undefined;
  return [
    space,
    twist,
    el("span.name", {}, tree.labels[tree.label[i]], el("span.thin", {}, `/${isFlat ? tree.indices[i] : tree.sample[i]}`)),
    state.closed.has(i) && !isFlat && el("span.thin", {}, ` +${children}`),
    el("span.marks", {}, marks(task, i)),
    value !== undefined && value !== null && el("span.value", { title: plain(state.metric) }, score(value)),
  ];
}

// What the stages that decide said of a candidate: the first that rejected it, else the first that did not accept it. Null if none judged it.
function decisionOf(task, i) {
  const judged = task.decisions.filter((stage) => task.tree.decisions[stage][i] !== "-");
  const all = judged.map((stage) => `${stage}${task.task.measured.includes(stage) ? " (measured only)" : ""}: ${LETTERS[task.tree.decisions[stage][i]]}`).join("\n");
  const letters = judged.filter((stage) => !task.task.measured.includes(stage)).map((stage) => task.tree.decisions[stage][i]);
  const letter = letters.find((l) => l === "r") || letters.find((l) => l !== "a") || letters[0];
  return letter ? { decision: LETTERS[letter], all } : null;
}

// What became of a candidate, in words as short as a line allows.
function marks(task, i) {
  const { tree } = task;
  const out = [];
  if (tree.failed[i]) out.push(el("span.badge.is-failed", { title: plain(tree.failed[i].message) }, "failed"));
  const said = decisionOf(task, i);
  if (said) out.push(el(`span.badge.is-${said.decision}`, { title: plain(said.all) }, said.decision.replace("-", " ")));
  if (tree.planned[i] && tree.planned[i] !== "plan") out.push(el("span.badge.is-rejected", { title: `planner: ${tree.planned[i]}` }, "no plan"));
  if (tree.bestSet.has(i)) out.push(el("span.mark", { title: "best of its round" }, "best"));
  for (const [stage, set] of Object.entries(tree.keptSets)) if (set.has(i)) out.push(el("span.mark.is-kept", { title: `kept by ${plain(stage)}` }, "kept"));
  if (tree.answer === i) out.push(el("span.mark.is-answer", { title: "the verdict is about this candidate" }, "answer"));
  return out;
}

function stagesView(task) {
  const { tree, task: page } = task;
  const failed = Object.entries(tree.failed);
  const kinds = new Map();
  for (const [, failure] of failed) kinds.set(failure.code, (kinds.get(failure.code) || 0) + 1);
  return el(
    "div.summary",
    {},
    page.unreadable > 0 && el("p.note.is-bad", {}, `${figure(page.unreadable)} ${page.unreadable === 1 ? "document" : "documents"} of this task cannot be read; the pages of its candidates and calls have the reasons.`),
    task.decisions.length > 0 &&
      table(
        "Candidates by decision, stage by stage in the order of the pipeline",
        [["stage", ""], ...Object.values(LETTERS).map((word) => [word.replace("-", " "), "number"])],
        task.decisions,
        (stage) => [stageName(task, stage), ...Object.keys(LETTERS).map((letter) => tally(tree.decisions[stage], letter))],
      ),
    failed.length > 0 && [el("h2", {}, "Samples that broke"), table("Samples that broke, by cause", [["failure", ""], ["samples", "number"]], [...kinds].sort((a, b) => b[1] - a[1]), ([code, n]) => [el("code", {}, code), figure(n)])],
    page.broken.length > 0 && [el("h2", {}, "Calls on candidates that broke"), page.broken.slice(0, 50).map(([path, failure]) => el("div", {}, nodeLink(task, path), failureView(failure)))],
    page.selections.length > 0 && [
      el("h2", {}, "Selections"),
      page.selections.map((selection) =>
        el("p", {}, el("code", {}, selection.stage), " kept ", selection.kept.slice(0, 12).map((path, i) => [i > 0 && ", ", nodeLink(task, path)]), selection.kept.length > 12 && ` and ${figure(selection.kept.length - 12)} more`, groupsView(selection)),
      ),
    ],
  );
}

const tally = (column, letter) => {
  let n = 0;
  for (const c of column) if (c === letter) n++;
  return n ? figure(n) : "-";
};

export const stageOrder = (page, stages) => [...stages].sort((a, b) => page.stages.indexOf(a) - page.stages.indexOf(b));

export const stageName = (task, stage) => [el("strong", {}, stage), task.task.measured.includes(stage) && [" ", el("span.mark", {}, "measured only")]];

function groupsView(selection) {
  const by = [...new Set(selection.groups.map((group) => group.by))].filter(Boolean);
  const without = selection.groups.reduce((sum, group) => sum + group.without_value, 0);
  return by.length > 0 && el("span.thin", {}, ` by ${by.join(", ")} out of ${figure(selection.groups.reduce((sum, group) => sum + group.members, 0))}`, without > 0 && `; ${without} had no value`);
}
