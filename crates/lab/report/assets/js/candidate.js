// A candidate: what was said of it, what it is, and how it came to be.

import { address, badge, cellParts, count, el, figure, keptFilters, link, pageOf, score, textOf } from "./base.js";
import { callFold, callsPart, turns } from "./calls.js";
import { fold } from "./list.js";
import { facts } from "./overview.js";
import { changesView, statesView } from "./states.js";
import { nodeName, placeOfPath, stageName } from "./task.js";
import { block, failureView, finding, pddlView, textBlock } from "./text.js";

export async function candidateView(task, name) {
  const { tree } = task;
  const at = tree.at.get(name);
  const back = el("p.back", {}, link(address(...cellParts(task.cell), task.name, "tree") + keptFilters(), "\u2190 all candidates"));
  if (at === undefined) return [back, el("p.note.is-bad", {}, "Unknown candidate: ", el("code", {}, name))];
  const own = address(...cellParts(task.cell), task.name, "candidate", name);
  const head = [back, el("h2", {}, el("a.path", { href: own, title: "Link to this candidate" }, name)), descent(task, at)];
  if (tree.page[at] < 0) {
    const calls = (task.task.tree.failed_calls || {})[at] || [];
    return [
      head,
      el("p", {}, "This sample broke, so no candidate came of it."),
      failureView(tree.failed[at]),
      calls.length > 0 && [el("h3", {}, "Calls"), calls.map((call) => callFold(task, call, true))],
    ];
  }
  const page = await pageOf(tree.page[at]);
  const broken = task.task.broken.filter(([path]) => placeOfPath(task, path) === at || sameIndices(task, path, at));
  return [
    head,
    fate(task, at),
    page.unreadable.map((why) => el("p.note.is-bad", {}, `Part of its record cannot be read: ${why}`)),
    broken.map(([path, failure]) => el("div", {}, el("code", {}, path), failureView(failure))),
    verdicts(task, page),
    page.plans.map((plan, i) => planView(task, page, plan, i === page.plans.length - 1)),
    changesView(task, at, "Changes of the domain", page.domain_changes),
    changesView(task, at, "Changes of the problem", page.problem_changes),
    await pddlPart("Domain", "domain", page),
    await pddlPart("Problem", "problem", page),
    page.thought !== undefined && fold("Thought", () => textBlock(page.thought, "prose")),
    page.texts.map(([title, text]) => fold(title, () => textBlock(text, "code"))),
    replyPart(page),
    callsPart(task, "Calls that wrote it", page.wrote),
    callsPart(task, "Calls about it", page.about),
    page.conversation.length > 0 && fold(`Conversation so far (${count(page.conversation.length, "turn")})`, () => turns(page.conversation)),
  ];
}

// A call on a candidate has its indices, at another stage.
function sameIndices(task, path, at) {
  const own = path.startsWith(task.name + "/") ? path.slice(task.name.length + 1) : path;
  return !task.tree.at.has(own) && own.split("/")[1] === task.tree.indices[at];
}

// From the first ancestor to the candidate.
function descent(task, at) {
  const { tree } = task;
  const line = [];
  for (let i = at; i >= 0; i = tree.parent[i]) line.unshift(i);
  const steps = line.length > 9 ? [...line.slice(0, 2), null, ...line.slice(-6)] : line;
  const children = tree.children[at];
  if (line.length === 1 && !children.length) return null;
  return el(
    "p.descent",
    {},
    steps.map((i, k) => [
      k > 0 && " \u203a ",
      i === null ? `${line.length - 8} more` : i === at ? el("strong", {}, `${tree.labels[tree.label[i]]}/${tree.sample[i]}`) : nodeAt(task, i),
    ]),
    children.length > 0 && el("span.thin", {}, ` \u00b7 ${count(children.length, "child", "children")}: `, children.slice(0, 6).map((i, k) => [k > 0 && ", ", nodeAt(task, i)]), children.length > 6 && ` and ${figure(children.length - 6)} more`),
  );
}

const nodeAt = (task, i) =>
  link(address(...cellParts(task.cell), task.name, "candidate", nodeName(task.tree, i)) + keptFilters(), `${task.tree.labels[task.tree.label[i]]}/${task.tree.sample[i]}`);

// What selections, rounds and pulls did with it.
function fate(task, at) {
  const { tree, task: page } = task;
  const words = [];
  if (tree.answer === at) words.push(el("span.mark.is-answer", {}, "the answer: the verdict is about it"));
  for (const [stage, set] of Object.entries(tree.keptSets)) if (set.has(at)) words.push(el("span.mark.is-kept", {}, `kept by ${stage}`));
  for (const [stage, set] of Object.entries(tree.droppedSets)) if (set.has(at)) words.push(el("span.mark.is-dropped", {}, `not kept by ${stage}`));
  for (const round of page.rounds) {
    if (round.best && placeOfPath(task, round.best) === at) {
      const value = round.value === null || round.value === undefined ? "" : ` with ${score(round.value)}`;
      words.push(el("span.mark", {}, `best of round ${round.round} of ${round.stage}${value}${round.accepted ? ", accepted" : ""}`));
    }
  }
  const own = `${task.name}/${nodeName(tree, at)}`;
  for (const pull of page.pulls) {
    if (pull.made.includes(own)) words.push(el("span.mark", {}, `pull ${pull.pull} of ${pull.stage}: ${pull.arm === "new" ? "a new sample" : pull.arm === "entered" ? "came in" : "a refinement"}, reward ${score(pull.reward)}`));
    else if (pull.arm === own) words.push(el("span.mark", {}, `refined in pull ${pull.pull}`));
  }
  return words.length > 0 && el("p.fate", {}, words.slice(0, 40).map((word) => [word, " "]), words.length > 40 && `and ${words.length - 40} more`);
}

// ---- What was said -------------------------------------------------------------------------------------------------------------------

function verdicts(task, page) {
  const numbers = [];
  const order = task.task.stages;
  const steps = [...page.assessments, ...page.plans].sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage));
  if (page.log_likelihood !== undefined) numbers.push(["log-likelihood", `${score(page.log_likelihood)}${page.tokens ? ` over ${count(page.tokens, "token")}` : ""}`]);
  if (page.edits) numbers.push(["edits", `${page.edits.applied} made, ${page.edits.refused} refused`]);
  if (!steps.length && !numbers.length) return el("p.note", {}, "No stage judged it.");
  return el("section.verdicts", {}, steps.map((step) => (step.decision ? assessment(task, page, step) : el("div.assessment", {}, el("p", {}, el("strong", {}, step.stage), " ", planBadge(step))))), numbers.length > 0 && facts(numbers));
}

function planBadge(plan) {
  const best = plan.plans[0];
  return plan.outcome === "plan" ? badge(`plan of ${count(best ? best.steps.length : 0, "step")}`, "accepted") : badge(plan.outcome.replace("-", " "), plan.outcome);
}

function assessment(task, page, said) {
  const metrics = Object.entries(said.metrics);
  const elsewhere = said.diagnostics.filter((d) => !(d.line && page[d.file]));
  const here = said.diagnostics.length - elsewhere.length;
  return el(
    "div.assessment",
    {},
    el("p", {}, stageName(task, said.stage), " ", badge(said.decision.replace("-", " "), said.decision), " ", said.message || said.summary),
    metrics.length > 0 && el("p.metrics", {}, metrics.map(([name, value]) => el("span.metric", {}, `${name} `, el("b", {}, score(value))))),
    elsewhere.map((d) => finding(d, true)),
    here > 0 && el("p.thin", {}, `${count(here, "finding")} below, in place.`),
    said.message && said.summary && said.summary !== said.message && el("p", {}, said.summary),
    said.feedback.length > 0 && fold("Feedback for the model", () => said.feedback.map((text) => textBlock(text, "prose"))),
    said.evidence !== undefined && fold("Evidence", async () => block(pretty(await textOf(said.evidence)), "code")),
    said.evidence_bytes !== undefined && el("p.thin", {}, `Evidence of ${figure(said.evidence_bytes)} bytes is in the run folder.`),
  );
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

// ---- What it is ----------------------------------------------------------------------------------------------------------------------

async function pddlPart(title, file, page) {
  const pddl = page[file];
  if (!pddl) return null;
  const found = page.assessments.flatMap((a) => a.diagnostics.filter((d) => d.file === file).map((d) => ({ ...d, stage: a.stage })));
  for (const plan of page.plans) found.push(...plan.diagnostics.filter((d) => d.file === file).map((d) => ({ ...d, stage: plan.stage })));
  const unique = found.filter((d, i) => found.findIndex((o) => o.code === d.code && o.start === d.start && o.message === d.message) === i);
  const errors = unique.filter((d) => d.severity === "error").length;
  const words = pddl.written ? "written in its reply" : "input";
  const rest = unique.length - errors;
  return fold(
    [title, el("span.thin", {}, ` ${words}`), errors > 0 && [" ", badge(count(errors, "error"), "rejected")], rest > 0 && [" ", badge(count(rest, "remark"), "undecided")]],
    async () => pddlView(await textOf(pddl.text), unique),
    pddl.written || errors > 0,
  );
}

function replyPart(page) {
  if (page.reply === undefined) return null;
  return fold(
    ["Raw reply", page.fixes.length > 0 && [" ", badge(count(page.fixes.length, "fix", "fixes"), "undecided")]],
    () => [
      page.fixes.map((fix) => el("p.finding.is-warning", {}, el("strong", {}, "fixed"), ` line ${fix.line}: ${fix.title} `, el("code", {}, fix.code))),
      page.diagnostics.map((d) => finding(d, true)),
      textBlock(page.reply, "prose"),
    ],
    page.fixes.length > 0 || page.diagnostics.some((d) => d.severity === "error"),
  );
}

function planView(task, page, plan, isLast) {
  const best = plan.plans[0];
  const search = plan.statistics && plan.statistics.search;
  const expanded = plan.statistics && plan.statistics.expanded;
  const title = [
    "Plan of ",
    el("code", {}, plan.stage),
    " ",
    planBadge(plan),
    el("span.thin", {}, best && best.cost !== undefined && ` cost ${score(best.cost)}`, plan.optimal && ", proven cheapest", plan.found > 1 && `, the best of ${figure(plan.found)}`),
  ];
  return fold(
    title,
    async () => [
      search && el("p.thin", {}, search, expanded !== undefined && `, ${count(expanded, "node")} expanded`),
      plan.explanation.map((line) => el("p", {}, line)),
      plan.diagnostics.map((d) => finding(d, true)),
      best && ((await statesView(plan)) || el("ol.plan", {}, best.steps.map((step) => el("li", {}, el("code", {}, step))))),
      plan.plans.length > 1 && fold(`${plan.plans.length - 1} further plans`, () => plan.plans.slice(1).map((other) => el("ol.plan", {}, other.steps.map((step) => el("li", {}, el("code", {}, step)))))),
    ],
    isLast,
  );
}
