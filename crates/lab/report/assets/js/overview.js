// The first page: the matrix of an evaluation, and what everything cost. A single run begins with its own page.

import { address, badge, cellParts, clock, columnOf, count, duration, el, figure, filters, index, link, money, note, pageOf, plain, score, setFilters, textOf } from "./base.js";
import { fold, table } from "./list.js";
import { drawing } from "./states.js";
import { textBlock } from "./text.js";

const OUTCOMES = [
  ["solved", "solved"],
  ["not_solved", "not solved"],
  ["undecided", "undecided"],
  ["failed", "failed"],
  ["unfinished", "unfinished"],
];

const total = (counts) => OUTCOMES.reduce((sum, [key]) => sum + counts[key], 0);
const sumOf = (cells, key) => cells.reduce((sum, cell) => sum + cell.counts[key], 0);

// How tasks ended as a bar, with the same in words for those who do not see it.
function bar(counts) {
  const all = total(counts);
  const words = OUTCOMES.filter(([key]) => counts[key]).map(([key, word]) => `${counts[key]} ${word}`);
  const node = el("span.bar", { role: "img", "aria-label": words.join(", ") || "no task", title: words.join(", ") });
  for (const [key, word] of OUTCOMES) {
    if (!counts[key]) continue;
    const part = el(`span.is-${word.replace(" ", "-")}`);
    part.style.flexGrow = counts[key] / all;
    node.append(part);
  }
  return node;
}

// `7 of 10 solved`, and behind it what is open: neither solved nor not solved.
function share(counts) {
  const open = OUTCOMES.slice(2).filter(([key]) => counts[key]);
  return [
    el("span.share", {}, `${counts.solved} of ${total(counts)} solved`),
    open.map(([key, word]) => [" ", badge(`${counts[key]} ${word}`, word)]),
  ];
}

function legend() {
  return el(
    "p.legend",
    {},
    OUTCOMES.map(([, word]) => [el("span.key", {}, el(`span.swatch.is-${word.replace(" ", "-")}`), ` ${word}`), " "]),
  );
}

// Figures of a simulated model say nothing about a language model.
const simulated = (column) =>
  index.cells.some((cell) => cell.simulated && columnOf(cell) === column) && el("span.thin", {}, " (simulated)");

function matrix() {
  const suites = [...new Set(index.cells.map((cell) => cell.suite))];
  const columns = [...new Set(index.cells.map(columnOf))];
  const at = new Map();
  for (const cell of index.cells) {
    const key = JSON.stringify([cell.suite, columnOf(cell)]);
    at.set(key, [...(at.get(key) || []), cell]);
  }
  const body = el("tbody");
  for (const suite of suites) {
    const row = el("tr", {}, el("th", { scope: "row" }, suite));
    for (const column of columns) row.append(el("td", {}, matrixCell(at.get(JSON.stringify([suite, column])) || [])));
    row.dataset.words = plain(`${suite}`).toLowerCase();
    body.append(row);
  }
  const sums = el("tr.sums", {}, el("th", { scope: "row" }, "all suites"));
  for (const column of columns) {
    const own = index.cells.filter((cell) => columnOf(cell) === column);
    const counts = Object.fromEntries(OUTCOMES.map(([key]) => [key, sumOf(own, key)]));
    sums.append(el("td", {}, bar(counts), " ", share(counts)));
  }
  const head = el("tr", {}, el("th", { scope: "col" }, "suite"), columns.map((c) => el("th", { scope: "col" }, c, simulated(c))));
  const filter = el("input", { type: "search", placeholder: "Filter suites", "aria-label": "Filter suites", value: filters().suites, input: () => (setFilters({ suites: filter.value.trim() }), filterRows()) });
  function filterRows() {
    const wanted = filter.value.trim().toLowerCase();
    for (const row of body.children) row.hidden = !row.dataset.words.includes(wanted);
  }
  filterRows();
  return el(
    "section",
    {},
    el("div.tools", {}, suites.length > 8 && filter, legend()),
    el("div.scroll", { tabindex: 0, role: "group", "aria-label": "Results" }, el("table.matrix", {}, el("caption", {}, "Solved tasks by suite and pipeline, seed by seed"), el("thead", {}, head), body, suites.length > 1 && el("tfoot", {}, sums))),
    el(
      "p.note",
      {},
      "Undecided, failed and unfinished tasks are not counted as solved or unsolved.",
      index.cells.some((cell) => !cell.judged) && " Before the evaluation is complete, a task counts by its verdict.",
    ),
  );
}

function matrixCell(cells) {
  return cells.map((cell) => {
    const words = [
      cells.length > 1 && el("span.seed", {}, `seed ${cell.seed} `),
      share(cell.counts),
      cell.walk !== undefined && el("span.walk", { title: "walk score" }, ` walks ${score(cell.walk)}`),
      cell.state !== "finished" && [" ", badge(cell.state)],
    ];
    const content = [bar(cell.counts), el("span.words", {}, words)];
    return cell.page === undefined
      ? el("div.cell", {}, content)
      : el("a.cell", { href: address(...cellParts(cell)), title: `${plain(cell.suite)}, ${plain(columnOf(cell))}, seed ${cell.seed}` }, content);
  });
}

const ACCOUNT = [
  ["calls", "number"],
  ["unanswered", "number"],
  ["replies", "number"],
  ["tokens in", "number"],
  ["tokens out", "number"],
  ["time", "number"],
  ["cost", "number"],
];

// A line of an account. `>=` where a server did not count all tokens.
function accountCells(account) {
  const counted = (n) => {
    if (account.unmetered && account.unmetered >= account.calls && !n) return "unknown";
    return account.unmetered ? `>= ${figure(n)}` : figure(n);
  };
  return [
    figure(account.calls),
    account.failed ? el("span.is-bad", {}, figure(account.failed)) : "0",
    figure(account.replies),
    counted(account.prompt),
    counted(account.completion),
    duration(account.ms),
    account.calls + account.failed ? money(account.cost) : "-",
  ];
}

// Accounts as a table; `lines` are [name, account].
export function accounts(title, lines, named) {
  const used = lines.filter(([, account]) => account.calls + account.failed);
  if (!used.length) return el("p.note", {}, "No requests to models.");
  return table(`Requests by ${title}`, [[title, ""], ...ACCOUNT], used, ([name, account]) => [named ? named(name) : name, ...accountCells(account)]);
}

function addAccounts(list) {
  const sum = { calls: 0, failed: 0, replies: 0, attempts: 0, prompt: 0, completion: 0, unmetered: 0, ms: 0, cost: 0 };
  for (const account of list) {
    if (!(account.calls + account.failed)) continue;
    for (const key of Object.keys(sum)) if (key !== "cost") sum[key] += account[key];
    sum.cost = sum.cost === undefined || account.cost === undefined ? undefined : sum.cost + account.cost;
  }
  return sum;
}

function warnings() {
  if (!index.warnings.length) return null;
  return el("div.note.is-bad", { role: "note" }, el("strong", {}, "Not everything could be read:"), el("ul", {}, index.warnings.map((w) => el("li", {}, w))));
}

// A sentence for each method of an evaluation, success against tokens, and success by level and by size.
async function methods({ sentences, tables, figure }) {
  const words = "Tasks solved against tokens a task, for each method";
  return el(
    "section.methods",
    {},
    el("h2", {}, "Methods"),
    el("ul", {}, sentences.map((sentence) => el("li", {}, sentence))),
    figure !== null && drawing(await textOf(figure), words, "curve"),
    tables.map(({ caption, columns, rows }) => table(caption, columns.map((name) => [name, ""]), rows, (row) => row)),
  );
}

export async function overviewPage() {
  const cells = index.cells;
  const columns = [...new Set(cells.map(columnOf))];
  const by = columns.map((column) => [column, addAccounts(cells.filter((cell) => columnOf(cell) === column).map((cell) => cell.tokens))]);
  if (columns.length > 1) by.push(["all", addAccounts(cells.map((cell) => cell.tokens))]);
  const candidates = cells.reduce((sum, cell) => sum + cell.candidates, 0);
  const tasks = cells.reduce((sum, cell) => sum + total(cell.counts), 0);
  const calls = cells.reduce((sum, cell) => sum + cell.calls, 0);
  const states = (state) => cells.filter((cell) => cell.state === state).length;
  return [
    el("h1", {}, index.title),
    el(
      "p.lead",
      {},
      `Evaluation: ${count(cells.length, "cell")}, ${count(tasks, "task")}, ${count(candidates, "candidate")}, ${count(calls, "call")}. `,
      states("unfinished") > 0 && [badge("unfinished"), ` ${count(states("unfinished"), "cell")} `],
      states("not started") > 0 && [badge("not started"), ` ${count(states("not started"), "cell")}`],
    ),
    warnings(),
    await Promise.all(index.methods.map(methods)),
    cells.length ? matrix() : el("p.note", {}, "No cells yet."),
    el("h2", {}, "What it cost"),
    accounts("pipeline", by),
    index.tables.length > 0 && el("h2", {}, "Tables"),
    index.tables.map(([name, text]) => fold(name, () => textBlock(text, "table"))),
    footer(),
  ];
}

const footer = () => note && el("p.footer", {}, note);

// ---- A run ---------------------------------------------------------------------------------------------------------------------------

export async function cellPage(cell) {
  if (cell.page === undefined) {
    return [el("h1", {}, cellTitle(cell)), el("p.note", {}, "No run was made for this cell yet.")];
  }
  const page = await pageOf(cell.page);
  return [
    el("h1", {}, cellTitle(cell)),
    el("p.lead", {}, bar(cell.counts), " ", share(cell.counts), " ", badge(cell.state), cell.walk !== undefined && ` walk score ${score(cell.walk)}`),
    index.kind === "run" && warnings(),
    el("h2", {}, "Tasks"),
    taskTable(cell, page),
    el("h2", {}, "What it cost"),
    accounts("model", Object.entries(page.by_model)),
    accounts("stage", Object.entries(page.by_stage)),
    effects(page.effects),
    el("h2", {}, "What it was made from"),
    facts([
      ["run", page.id],
      ["made", clock(page.created_at)],
      ["planforge", page.planforge],
      ["seed", cell.seed],
      ["models", Object.entries(page.models).map(([name, model]) => el("div", {}, `${name}: ${model}`))],
      ["pipeline", page.config_path],
      ["overrides", page.overrides.map((line) => el("div", {}, el("code", {}, line)))],
      ["sessions", page.sessions.map(session)],
    ]),
    page.logs.length > 0 && fold(`Log (${page.logs.length})`, () => page.logs.map((line) => el("p", {}, badge(line.level), " ", el("code", {}, line.plugin), " ", line.message)), page.logs.some((l) => l.level === "warn")),
    fold("Pipeline file", () => textBlock(page.config, "code")),
    fold(`Plugins (${page.plugins.length})`, () => page.plugins.map((line) => el("div", {}, line))),
    footer(),
  ];
}

const cellTitle = (cell) => [cell.suite, " ", el("span.thin", {}, columnOf(cell)), " ", el("span.thin", {}, `seed ${cell.seed}`)];

function session(line) {
  const end = line.ended ? [`${line.state} `, clock(line.ended)] : "has no recorded end: it is running, or was stopped from outside";
  return el("div", {}, `${line.mode}: `, clock(line.began), ", ", end);
}

export function facts(lines) {
  const used = lines.filter(([, value]) => value !== "" && value !== undefined && !(Array.isArray(value) && !value.length));
  return el("dl.facts", {}, used.map(([name, value]) => [el("dt", {}, name), el("dd", {}, typeof value === "number" ? String(value) : value)]));
}

export function effects(sums) {
  const lines = Object.entries(sums);
  if (!lines.length) return null;
  return table("Work without a model", [["planners, verifiers and programs", ""], ["answers", "number"], ["time", "number"]], lines, ([call, [n, ms]]) => [call, figure(n), duration(ms)]);
}

function taskTable(cell, page) {
  const holder = el("div");
  const wantedFirst = filters();
  const change = () => (setFilters({ tasks: filter.value.trim(), outcome: outcome.value }), draw());
  const filter = el("input", { type: "search", placeholder: "Filter tasks", "aria-label": "Filter tasks", value: wantedFirst.tasks, input: change });
  const option = (value, word) => el("option", { value, selected: value === wantedFirst.outcome }, word);
  const outcome = el("select", { "aria-label": "Outcome", change }, option("", "every outcome"), OUTCOMES.map(([, word]) => option(word, word)));
  function draw() {
    const wanted = filter.value.trim().toLowerCase();
    const fits = (task) =>
      (!outcome.value || task.outcome === outcome.value) && (!wanted || plain(`${task.task} ${task.why}`).toLowerCase().includes(wanted));
    holder.replaceChildren(
      table(
        "Tasks with their outcomes",
        [["task", ""], ["outcome", ""], ["why", "why"], ["candidates", "number"], ["broken", "number"], ...ACCOUNT.slice(0, 1), ...ACCOUNT.slice(3)],
        page.tasks.filter(fits),
        (task) => {
          const account = accountCells(task.account);
          return [
            link(address(...cellParts(cell), task.task), task.task),
            [badge(task.outcome), task.verdict && !alike(task) && el("span.thin", {}, ` ${task.verdict}`)],
            el("span.clamp", {}, task.why),
            figure(task.candidates),
            figure(task.failed),
            account[0],
            ...account.slice(3),
          ];
        },
      ),
    );
  }
  draw();
  return el("div", {}, page.tasks.length > 5 && el("div.tools", {}, filter, outcome), holder);
}

// Whether the verdict says the same as the outcome.
export const alike = (task) => ({ solved: "accepted", undecided: "undecided", failed: "failed" })[task.outcome] === task.verdict;
