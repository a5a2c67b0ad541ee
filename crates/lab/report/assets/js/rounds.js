// What refinement and a search under a budget did, round by round and pull by pull.

import { badge, count, el, figure, money, plain, put, score, textOf } from "./base.js";
import { fold, table } from "./list.js";
import { accounts, effects } from "./overview.js";
import { drawing } from "./states.js";
import { nodeLink, stageOrder } from "./task.js";

export function roundsView(task) {
  const lines = new Map();
  for (const round of task.task.rounds) {
    const key = `${round.stage} ${round.root}`;
    if (!lines.has(key)) lines.set(key, { stage: round.stage, root: round.root, rounds: [] });
    lines.get(key).rounds.push(round);
  }
  const all = [...lines.values()];
  const holder = el("div");
  let shownLines = 0;
  const more = el("button", { type: "button", click: () => grow() });
  function grow() {
    const end = Math.min(all.length, shownLines + 20);
    for (; shownLines < end; shownLines++) put(holder, roundsOf(task, all[shownLines]));
    more.hidden = end >= all.length;
    more.textContent = `Show more of ${count(all.length, "refined candidate")}`;
  }
  grow();
  return el("div", {}, curvesPart(task), holder, more);
}

function roundsOf(task, line) {
  const valued = line.rounds.some((round) => round.value !== null);
  const compared = line.rounds.some((round) => round.best_so_far);
  const columns = [["round", "number"], ["best child", ""], ["verdict", ""]];
  if (valued) columns.splice(2, 0, ["value", "number"]);
  if (compared) columns.push(["best so far", ""]);
  return el(
    "section.rounds",
    {},
    el("h2", {}, el("code", {}, line.stage), " of ", nodeLink(task, line.root)),
    table(`Rounds of ${plain(line.stage)}`, columns, line.rounds, (round) => [
      figure(round.round),
      round.best ? nodeLink(task, round.best) : el("span.thin", {}, "no usable reply"),
      ...(valued ? [score(round.value)] : []),
      badge(round.accepted ? "accepted" : "not accepted", round.accepted ? "accepted" : "undecided"),
      ...(compared ? [round.best_so_far ? nodeLink(task, round.best_so_far) : "-"] : []),
    ]),
  );
}

export function searchView(task) {
  const { pulls, spent } = task.task;
  const withMoney = pulls.some((pull) => pull.spent.money !== undefined);
  return [
    spent.map((end) =>
      el("p", {}, el("code", {}, end.stage), ` ended: ${end.end.replace(/-/g, " ")}, after ${count(end.pulls, "pull")}, ${count(end.spent.calls, "call")}, ${count(end.spent.tokens, "token")}`, end.spent.money !== undefined && `, ${money(end.spent.money)}`, end.best && ["; the best is ", nodeLink(task, end.best)]),
    ),
    table(
      "Pulls of the budget",
      [["pull", "number"], ["arm", ""], ["made", ""], ["value", "number"], ["reward", "number"], ["calls", "number"], ["tokens so far", "number"], ...(withMoney ? [["cost so far", "number"]] : []), ["best so far", ""]],
      pulls,
      (pull) => [
        figure(pull.pull),
        pull.arm === "new" || pull.arm === "entered" ? pull.arm : ["refined ", nodeLink(task, pull.arm)],
        pull.made.length ? pull.made.map((path, i) => [i > 0 && ", ", nodeLink(task, path)]) : el("span.thin", {}, "nothing"),
        [score(pull.value), pull.accepted && [" ", badge("accepted")]],
        score(pull.reward),
        figure(pull.cost.calls),
        figure(pull.spent.tokens),
        ...(withMoney ? [money(pull.spent.money)] : []),
        pull.best ? [nodeLink(task, pull.best), pull.best_value !== null && ` ${score(pull.best_value)}`] : "-",
      ],
    ),
  ];
}

export function accountView(task) {
  return [
    accounts("model", Object.entries(task.task.by_model)),
    accounts("stage", stageOrder(task.task, Object.keys(task.task.by_stage)).map((stage) => [stage, task.task.by_stage[stage]])),
    effects(task.task.effects),
    el("p.note", {}, "Call times are summed, also for parallel calls. A cost is unknown if the pipeline file has no price for the model or the server did not count tokens."),
  ];
}

// Scores over rounds or samples: every candidate as a marker, the best so far as a line.
function curvesPart(task) {
  const curves = task.task.curves || [];
  if (!curves.length) return null;
  return el("section.curves", {}, curves.map((curve, i) => fold([curve.metric, el("span.thin", {}, ` over ${curve.over}s`)], async () => drawing(await textOf(curve.svg), `${curve.metric} over ${curve.over}s`, "curve"), i < 2)));
}
