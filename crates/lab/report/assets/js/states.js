// What changed from a candidate to the next, and a plan with its states.

import { badge, count, el, figure, index, pageOf, plain, put, score } from "./base.js";
import { fold } from "./list.js";
import { nodeName } from "./task.js";

// A drawing that came as SVG, as an image: images run nothing and load nothing, whatever names are in them.
export function drawing(svg, words, kind) {
  const theme = document.documentElement.dataset.theme;
  const isDark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = isDark ? "svg{color:#e4e8eb;background:#1c2226}" : "svg{color:#1d2327;background:#ffffff}";
  const end = svg.indexOf(">") + 1;
  const whole = `${svg.slice(0, end)}<style>${index.styles[kind]}${colours}</style>${svg.slice(end)}`;
  const bytes = new TextEncoder().encode(whole);
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return el("figure", {}, el("img.drawing", { src: `data:image/svg+xml;base64,${btoa(binary)}`, alt: plain(words) }), el("figcaption", {}, words));
}

// ---- Changes -------------------------------------------------------------------------------------------------------------------------

export function changesView(task, at, title, changes) {
  if (!changes || changes.same) return null;
  const parent = task.tree.parent[at];
  const words = `${count(changes.structural.length + changes.structural_left_out, "change")}, ${count(changes.inserted, "line")} in, ${changes.removed} out`;
  return fold(
    [title, el("span.thin", {}, " against "), parent >= 0 ? el("span.thin", {}, nodeName(task.tree, parent)) : "the input", el("span.thin", {}, `: ${words}`)],
    () => [
      changes.unreadable.length > 0 && el("p.note", {}, "Some parts are unreadable; the changes below cover the rest: ", changes.unreadable.slice(0, 3).join("; ")),
      changes.structural.length
        ? changes.structural.map((change) => el("p.change", {}, el(`strong.is-${change.change}`, {}, change.change), " ", change.text))
        : el("p.note", {}, "Same meaning; only the text differs."),
      changes.structural_left_out > 0 && el("p.note", {}, `and ${figure(changes.structural_left_out)} more`),
      changes.hunks.map(hunkView),
      changes.lines_left_out > 0 && el("p.note", {}, `${figure(changes.lines_left_out)} further lines are left out`),
    ],
    true,
  );
}

function hunkView(hunk) {
  const kinds = { "+": "is-inserted", "-": "is-removed" };
  return el("div.hunk", { role: "group", "aria-label": `from line ${hunk.after}` }, hunk.lines.map(([sign, line]) => el("div", { class: kinds[sign] }, `${sign === " " ? "\u00a0" : sign} ${line}`)));
}

// ---- States --------------------------------------------------------------------------------------------------------------------------

const VERDICTS = { valid: ["valid", "accepted"], invalid: ["invalid", "rejected"], unsupported: ["not executed here", "undecided"], unreadable: ["unreadable", "rejected"] };

// The plan in the candidate's own domain and problem: each step with what it changed, and the state that is chosen.
export async function statesView(plan) {
  const states = plan.states === undefined ? null : await pageOf(plan.states);
  if (!states || (!states.steps.length && !states.initial.length)) return null;
  const [word, kind] = VERDICTS[states.verdict] || [states.verdict, "undecided"];
  const goal = states.goal.length;
  const held = new Set(states.goal_initially);
  const after = [held.size];
  for (const step of states.steps) {
    (step.goal_gained || []).forEach((g) => held.add(g));
    (step.goal_lost || []).forEach((g) => held.delete(g));
    after.push(held.size);
  }
  const list = el("ol", { "aria-label": "Steps" });
  const detail = el("div", { "aria-live": "polite" });
  const buttons = [];
  const add = (i, words) => {
    const met = goal > 0 && (i === 0 || after[i] !== after[i - 1]) ? el("span.goal", { title: "parts of the goal that hold" }, `${after[i]}/${goal}`) : null;
    const button = el("button", { type: "button", click: () => choose(i) }, el("span.step", {}, i), el("span", {}, words), met);
    buttons.push(button);
    list.append(el("li", {}, button));
  };
  add(0, "initial state");
  states.steps.forEach((step, i) => add(i + 1, states.names[step.action]));
  if (states.failing) list.append(el("li", {}, el("p.finding.is-error", {}, el("strong", {}, `step ${states.failing.index + 1}`), " ", el("code", {}, states.failing.text), " cannot be executed")));
  function choose(i) {
    buttons.forEach((button, k) => (k === i ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current")));
    if (buttons[i].offsetParent) buttons[i].scrollIntoView({ block: "nearest" });
    detail.replaceChildren();
    put(detail, stateAt(states, i));
  }
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (next === undefined || !buttons[next]) return;
    event.preventDefault();
    buttons[next].focus();
    choose(next);
  });
  choose(states.steps.length);
  return [
    el("p", {}, "In the candidate's own domain and problem it is ", badge(word, kind), ".", states.cost !== undefined && ` Cost ${score(states.cost)}.`),
    states.findings.map((line) => el("p.thin", {}, line)),
    el("div.states", {}, list, detail),
    states.steps_left_out > 0 && el("p.note", {}, `${count(states.steps_left_out, "further step")} left out.`),
    states.failing && el("div", {}, states.failing.conditions.map((c) => el("p.finding.is-error", {}, "needs ", el("code", {}, c.needs), `: ${c.why}`, el("span.help", {}, c.remedy)))),
    states.in_words && states.in_words.refusal && states.in_words.refusal.needs.map((unmet) => el("p", {}, "Needed: ", unmet.need, " But: ", unmet.instead)),
    states.missing.length > 0 && [el("h3", {}, "Not reached"), states.missing.map((line) => el("p.finding.is-error", {}, line))],
  ];
}

function stateAt(states, i) {
  const held = new Set(states.initial);
  const numbers = new Map(states.initial_numbers);
  for (const step of states.steps.slice(0, i)) {
    step.deleted.forEach((atom) => held.delete(atom));
    step.added.forEach((atom) => held.add(atom));
    (step.numbers || []).forEach(([term, value]) => numbers.set(term, value));
  }
  const step = i > 0 ? states.steps[i - 1] : null;
  const name = (id) => states.names[id];
  // A state that looks like the one before it has no picture of its own.
  const shown = states.pictures.filter((picture) => picture.step <= i).pop();
  const added = new Set(step ? step.added : []);
  const atoms = [...held].sort((a, b) => (name(a) < name(b) ? -1 : 1));
  const values = [...numbers].map(([term, value]) => `(= ${name(term)} ${value === null ? "?" : score(value)})`);
  const told = step && states.in_words ? states.in_words.steps[i - 1].changes : [];
  const undrawn = shown ? shown.undrawn.map(name) : null;
  return [
    el("p", {}, el("strong", {}, i === 0 ? "Initial state" : `After step ${i}: `), step && el("code", {}, name(step.action))),
    told.length > 0 && el("p", {}, told.join(" ")),
    shown && drawing(shown.svg, `${i === 0 ? "Initial state" : `State after step ${i}`}, ${states.picture_note ? `drawn from the domain: ${states.picture_note}` : "drawn by the suite's picture.toml"}`, "picture"),
    step && el("p.atoms", {}, step.added.map((id) => el("span.is-added", {}, `+ ${name(id)}`)), step.deleted.map((id) => el("span.is-deleted", {}, `- ${name(id)}`))),
    shown && undrawn.length > 0 && fold(`Not in the picture (${figure(undrawn.length)})`, () => el("p.atoms", {}, undrawn.map((fact) => el("span", {}, fact))), undrawn.length <= 12),
    shown && shown.left_out > 0 && el("p.thin", {}, `${count(shown.left_out, "thing")} of the picture left out.`),
    atoms.length > 0 &&
      fold(
        `All of the state (${count(atoms.length, "atom")})`,
        () => el("p.atoms", {}, atoms.map((id) => el("span", { class: added.has(id) ? "is-added" : null }, name(id))), values.map((value) => el("span", {}, value))),
        !shown && atoms.length < 60,
      ),
    states.initial_left_out > 0 && el("p.thin", {}, `${count(states.initial_left_out, "atom")} of the initial state left out.`),
  ];
}
