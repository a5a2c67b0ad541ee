// Every question to a model, with everything that was sent and came.

import { address, badge, cellParts, count, duration, el, figure, filters, keptFilters, link, pageOf, put, score, setFilters } from "./base.js";
import { fold, lazyList, shown } from "./list.js";
import { accounts, facts } from "./overview.js";
import { failureView, textBlock } from "./text.js";

export function callsView(task, chosen) {
  const calls = task.task.calls;
  const n = calls.path.length;
  if (!n) return el("p.note", {}, "No requests to models.");
  const detail = el("div.detail");
  const state = { filter: filters().calls || "", broken: filters().unanswered === "yes" };
  let lines = [];
  const list = lazyList({
    height: 44,
    label: "Calls",
    role: "listbox",
    row: (i) => callLine(calls, lines[i]),
    open: (i) => (location.hash = address(...cellParts(task.cell), task.name, "call", calls.path[lines[i]]) + keptFilters()),
  });
  const status = el("span.thin", { role: "status" });
  const filter = el("input", {
    type: "search",
    placeholder: "Filter: path, role, model, failure",
    "aria-label": "Filter calls",
    value: state.filter,
    input: () => ((state.filter = filter.value.trim().toLowerCase()), setFilters({ calls: state.filter }), refresh()),
  });
  const broken = el("input", { type: "checkbox", checked: state.broken, change: () => ((state.broken = broken.checked), setFilters({ unanswered: broken.checked && "yes" }), refresh()) });
  function refresh() {
    lines = [];
    for (let i = 0; i < n; i++) {
      const words = `${calls.path[i]} ${calls.role[i]} ${calls.llm[i]} ${calls.model[i]} ${calls.failure[i]}`.toLowerCase();
      if (words.includes(state.filter) && (!state.broken || calls.failure[i])) lines.push(i);
    }
    list.set(lines.length);
    status.textContent = lines.length === n ? count(n, "call") : `${figure(lines.length)} of ${count(n, "call")}`;
    const at = chosen ? lines.indexOf(calls.path.indexOf(chosen)) : -1;
    if (at >= 0) list.choose(at);
  }
  queueMicrotask(refresh);
  const some = calls.failure.some(Boolean);
  const tools = el("div.tools", {}, filter, some && el("label", {}, broken, " only without an answer"), status);
  if (chosen) {
    const at = calls.path.indexOf(chosen);
    put(detail, el("p.back", {}, link(address(...cellParts(task.cell), task.name, "calls") + keptFilters(), "\u2190 all calls")));
    if (at < 0) put(detail, el("p.note.is-bad", {}, "Unknown call: ", el("code", {}, chosen)));
    else {
      put(detail, el("h2", {}, el("span.path", {}, chosen)));
      shown(detail, () => callDetail(calls.page[at]));
    }
  } else put(detail, el("p", {}, "Choose a call to see its prompt, its replies and its settings."), accounts("model", Object.entries(task.task.by_model)), accounts("stage", Object.entries(task.task.by_stage)));
  return el("div", { class: chosen ? "split has-detail" : "split" }, el("div.side", {}, tools, list.node), detail);
}

function callLine(calls, i) {
  const tokens = calls.prompt[i] === null && calls.completion[i] === null ? "tokens not counted" : `${known(calls.prompt[i])} + ${known(calls.completion[i])} tokens`;
  return el(
    "div.call-line",
    {},
    el("span.name", {}, calls.path[i]),
    calls.failure[i] && el("span.badge.is-failed", {}, calls.failure[i]),
    el("span.thin", {}, `${calls.llm[i] || calls.role[i]} ${calls.model[i]} \u00b7 ${tokens} \u00b7 ${duration(calls.ms[i])}${calls.attempts[i] > 1 ? ` \u00b7 ${calls.attempts[i]} attempts` : ""}`),
  );
}

const part = (n, what) => (n ? ` (${figure(n)} ${what})` : "");

const known = (n) => (n === null || n === undefined ? "?" : figure(n));

export function callsPart(task, title, places) {
  if (!places.length) return null;
  return el("section", {}, el("h3", {}, title), places.map((place) => callFold(task, place, places.length === 1 && title.startsWith("Calls that"))));
}

export function callFold(task, place) {
  const calls = task.task.calls;
  const title = [
    el("code", {}, calls.path[place]),
    " ",
    calls.failure[place] && badge(calls.failure[place], "failed"),
    el("span.thin", {}, ` ${calls.llm[place] || calls.role[place]} ${calls.model[place]} \u00b7 ${known(calls.prompt[place])} + ${known(calls.completion[place])} tokens \u00b7 ${duration(calls.ms[place])}`),
  ];
  return fold(title, async () => [el("p", {}, link(address(...cellParts(task.cell), task.name, "call", calls.path[place]), "link to this call")), await callDetail(calls.page[place])]);
}

async function callDetail(number) {
  const call = await pageOf(number);
  const settings = Object.entries(call.settings).filter(([, value]) => value !== null && !(typeof value === "object" && !Object.keys(value).length));
  return [
    call.unreadable.map((why) => el("p.note.is-bad", {}, `Part of its record cannot be read: ${why}`)),
    call.failure && failureView({ ...call.failure, code: call.failure.class }),
    call.broken && failureView(call.broken),
    call.pending && el("p.note", {}, badge("unfinished"), ` The answer is pending: ${call.pending}`),
    facts([
      ["role", call.role],
      ["[llm] table", call.llm],
      ["model", call.model],
      ["answered by", call.answered_by],
      ["settings", settings.map(([name, value]) => el("span.metric", {}, `${name} `, el("b", {}, typeof value === "string" ? value : JSON.stringify(value))))],
      ["tokens", `${known(call.usage.prompt_tokens)} in${part(call.usage.cached_tokens, "from a cache")}${part(call.usage.cache_write_tokens, "written to a cache")}, ${known(call.usage.completion_tokens)} out${part(call.usage.reasoning_tokens, "of reasoning")}`],
      ["time", `${duration(call.ms)}, ${count(call.attempts, "attempt")}`],
    ]),
    call.retries.map((retry) => el("div.failure", {}, badge(`attempt ${retry.attempt}`, "undecided"), ` ${retry.failure.message} `, el("code", {}, retry.failure.class), retry.failure.status && ` HTTP ${retry.failure.status}`, `, next after ${duration(retry.wait_ms)}`)),
    call.messages.length > 0 && el("h3", {}, "Prompt"),
    turns(call.messages),
    call.replies.length > 0 && el("h3", {}, call.replies.length > 1 ? `${call.replies.length} replies` : "Reply"),
    replies(call),
    fold("Key in the journal", () => el("p", {}, el("code.long", {}, call.key))),
  ];
}

function replies(call) {
  const first = call.settings.n > 1 || call.replies.length > 1 ? Number(call.path.split("/").pop()) || 0 : null;
  const one = (reply, i) => {
    const cut = reply.finish !== "stop" && badge(reply.finish === "length" ? "cut off by the token limit" : reply.finish, "undecided");
    const likelihood = reply.log_likelihood !== undefined && el("span.thin", {}, ` log-likelihood ${score(reply.log_likelihood)} over ${count(reply.tokens, "token")}`);
    const title = [el("strong", {}, first === null ? "model" : `sample ${first + i}`), " ", cut, likelihood];
    const thought = reply.thought !== undefined && fold("Thought", () => textBlock(reply.thought, "prose"));
    return i < 3 ? el("div.turn.is-reply", {}, el("p.who", {}, title), thought, textBlock(reply.text, "prose")) : fold(title, () => [thought, textBlock(reply.text, "prose")]);
  };
  if (call.replies.length <= 60) return call.replies.map(one);
  return [call.replies.slice(0, 60).map(one), fold(`${call.replies.length - 60} more`, () => call.replies.slice(60).map((reply, i) => one(reply, i + 60)))];
}

export function turns(messages) {
  return messages.map((turn, i) => {
    const isEarly = messages.length > 4 && i > 0 && i < messages.length - 2;
    const title = el("strong", {}, turn.role);
    return isEarly
      ? fold([title, el("span.thin", {}, ` turn ${i + 1}`)], () => textBlock(turn.text, "prose"))
      : el(`div.turn.is-${turn.role}`, {}, el("p.who", {}, title), textBlock(turn.text, "prose"));
  });
}
