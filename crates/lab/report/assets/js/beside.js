// Two runs of one task side by side: what was asked, what came back, and what became of it.

import { address, badge, cellParts, el, index, link, pageOf, plain, textOf } from "./base.js";
import { fold } from "./list.js";
import { shownFirst, stageName, taskOf } from "./task.js";
import { block } from "./text.js";

// The other runs of this report that may have the task.
export function besideCells(task) {
  const suite = task.name.slice(0, task.name.lastIndexOf("."));
  return index.cells.filter((cell) => cell !== task.cell && cell.page !== undefined && cell.suite.split(", ").includes(suite));
}

export async function besideView(task, rest) {
  const cells = besideCells(task);
  const name = (cell) => cellParts(cell).join(" ");
  const other = cells.find((cell) => name(cell) === rest) || cells[0];
  const to = (cell) => address(...cellParts(task.cell), task.name, "beside", name(cell));
  const choice = el(
    "select",
    { id: "other-run", change: () => (location.hash = to(cells[choice.selectedIndex])) },
    cells.map((cell) => el("option", { selected: cell === other }, plain(name(cell)))),
  );
  const second = await taskOf(other, task.name);
  const tools = el("div.tools", {}, el("label", { for: "other-run" }, "The other run"), choice);
  if (!second) return [tools, el("p.note", {}, "That run does not have this task.")];
  const [a, b] = [await sideOf(task), await sideOf(second)];
  return [
    tools,
    el("div.pair", {}, [a, b].map((side) => el("section", {}, el("h2", {}, name(side.task.cell)), side.head))),
    ["prompt", "reply", "domain", "problem", "plan"].map((part) => pairView(part, a[part], b[part])),
  ];
}

// The answer of a run, as texts.
async function sideOf(task) {
  const { tree, entry, task: page } = task;
  const name = shownFirst(task);
  const at = name === null ? -1 : tree.at.get(name);
  const candidate = tree.page[at] >= 0 ? await pageOf(tree.page[at]) : null;
  const wrote = candidate ? candidate.wrote : (tree.failed_calls || {})[at] || [];
  const place = wrote.length ? wrote[wrote.length - 1] : 0;
  const call = page.calls.page.length ? await pageOf(page.calls.page[place]) : null;
  const prompt = call && (await Promise.all(call.messages.map(async (turn) => `${turn.role}:\n${await textOf(turn.text)}`)));
  const reply = candidate && candidate.reply !== undefined ? candidate.reply : call && call.replies.length ? call.replies[0].text : null;
  const pddl = async (part) => candidate && candidate[part] && (await textOf(candidate[part].text));
  const planned = candidate && candidate.plans.find((plan) => plan.plans.length);
  return {
    task,
    head: [
      el("p", {}, badge(entry.outcome), " ", entry.why),
      name !== null && el("p", {}, link(address(...cellParts(task.cell), task.name, "candidate", name), name)),
      candidate && candidate.assessments.map((said) => el("p", {}, stageName(task, said.stage), " ", badge(said.decision.replace("-", " "), said.decision))),
    ],
    prompt: prompt && prompt.join("\n\n"),
    reply: reply === null ? null : await textOf(reply),
    domain: await pddl("domain"),
    problem: await pddl("problem"),
    plan: planned && planned.plans[0].steps.join("\n"),
  };
}

function pairView(part, a, b) {
  if (!a && !b) return null;
  const title = part[0].toUpperCase() + part.slice(1);
  if (a === b) return fold([title, el("span.thin", {}, ": the same in both")], () => block(a, "code"));
  const side = (text, other) => el("div", {}, text ? onlyHere(text, other || "", title) : el("p.note", {}, `No ${part}.`));
  return fold([title, el("span.thin", {}, ": lines that the other run does not have are marked with \u25b8")], () => el("div.pair", {}, side(a, b), side(b, a)), true);
}

function onlyHere(text, other, title) {
  const known = new Set(other.split("\n").map((line) => line.trim()));
  const lines = text.split("\n").map((line) => (known.has(line.trim()) ? [line, "\n"] : el("span.only", {}, line, "\n")));
  return el("pre", { tabindex: 0, role: "group", "aria-label": title }, lines);
}
