// The state of a run at this moment, computed from its events and from the record as it was last read.

import type { Consent } from "../Consents";

export interface RequestOut {
  run: string;
  llm: string;
  path: string;
  phase: "queued" | "held" | "sent" | "backing-off";
  /** Milliseconds of the page's clock at which the phase began. */
  since: number;
}

export interface Cost {
  requests: number;
  tokens: number;
  money?: number;
}

/** The most that the models of the runs that have started may be used; a number is absent where nothing bounds it. */
export interface Caps {
  calls?: number;
  tokens?: number;
  money?: number;
}

/** A decision that the work waits for, with the answer that counts. */
export interface Decision extends Consent {
  allowed: boolean | null;
}

/** Numbers of a record, also of what ended before the events began. */
export interface Counts {
  total: number;
  ended: number;
  solved: number;
  requests: number;
  tokens: number;
  /** US dollars; absent where a price or a count is unknown. */
  money?: number;
}

export interface Live {
  /** Tasks of the runs that have started. */
  total: number;
  /** Tasks that ended since the events began, by run and name, and if they were solved. */
  ended: Map<string, boolean>;
  decisions: Decision[];
  /** Events that the server kept no longer. */
  lost: number;
  /** Numbers of the record, and what it holds besides these events; null until the record was read. */
  record: { counts: Counts; before: Counts } | null;
  /** Task of a run -> the stage that it is in. */
  stages: Map<string, string>;
  requests: Map<string, RequestOut>;
  cost: Cost;
  /** Null until a run has started. */
  caps: Caps | null;
  /** True once the server has sent the cost itself; before that it is added up from replies. */
  costIsTotal: boolean;
  /** Milliseconds of the first and of the last event on the server's clock. */
  first: number | null;
  last: number;
  /** The beginning of the time from which the pace is computed, and the tasks that had ended by then. */
  pace: { at: number; ended: number } | null;
  /** Changes when a trial or a stage ends, so that tables are worth reading again. */
  changes: number;
  isOver: boolean;
}

export const emptyLive = (): Live => ({
  total: 0,
  ended: new Map(),
  decisions: [],
  lost: 0,
  record: null,
  stages: new Map(),
  requests: new Map(),
  cost: { requests: 0, tokens: 0 },
  caps: null,
  costIsTotal: false,
  first: null,
  last: 0,
  pace: null,
  changes: 0,
  isOver: false,
});

/** An event as the server sends it: `kind` and the fields of that kind. */
export interface RunEvent {
  kind: string;
  [field: string]: unknown;
}

interface Recorded {
  event?: string;
  task?: string;
  stage?: string;
  verdict?: { verdict?: string };
  usage?: { prompt_tokens?: number; completion_tokens?: number };
}

/** Changes `live` by one event. */
export function takeEvent(live: Live, event: RunEvent, now: number): void {
  const run = String(event.run ?? "");
  if (typeof event.ms === "number") takeTime(live, event.ms);
  switch (event.kind) {
    case "lost":
      live.lost += Number(event.events ?? 0);
      live.changes++;
      break;
    case "consent":
      live.decisions.push({ consent: String(event.consent), text: String(event.text), allowed: null });
      break;
    case "consented":
      for (const one of live.decisions) if (one.consent === event.consent) one.allowed = Boolean(event.allow);
      break;
    case "run-started":
      live.total += Number(event.tasks ?? 0);
      addCaps(live, (event.caps ?? {}) as Caps);
      live.changes++;
      break;
    case "recorded":
      takeRecord(live, run, event.record as Recorded);
      break;
    case "request":
      takeRequest(live, run, event, now);
      break;
    case "cost":
      live.cost = event as unknown as Cost;
      live.costIsTotal = true;
      break;
    case "run-ended":
      for (const [key, request] of live.requests) if (request.run === run) live.requests.delete(key);
      live.changes++;
      break;
    case "state":
      live.isOver = ["ended", "stopped", "failed"].includes(String(event.state));
      if (live.isOver) live.requests.clear();
      break;
  }
}

function addCaps(live: Live, caps: Caps): void {
  const sum = (name: keyof Caps) => {
    const [own, before] = [caps[name], live.caps ? live.caps[name] : 0];
    return own === undefined || before === undefined ? undefined : own + before;
  };
  live.caps = { calls: sum("calls"), tokens: sum("tokens"), money: sum("money") };
}

function takeRecord(live: Live, run: string, record: Recorded | undefined): void {
  const task = `${run} ${record?.task ?? ""}`;
  switch (record?.event) {
    case "task-started":
      live.stages.set(task, "");
      break;
    case "stage-started":
      live.stages.set(task, record.stage ?? "");
      break;
    case "task-finished":
      live.stages.delete(task);
      live.ended.set(task, record.verdict?.verdict === "accepted");
      live.changes++;
      break;
    case "completion":
      live.changes++;
      if (live.costIsTotal) break;
      live.cost.requests++;
      live.cost.tokens += (record.usage?.prompt_tokens ?? 0) + (record.usage?.completion_tokens ?? 0);
      break;
    case "session-finished":
      live.changes++;
      break;
  }
}

function takeRequest(live: Live, run: string, event: RunEvent, now: number): void {
  const key = `${run} ${event.path}`;
  if (event.phase === "ended") {
    live.requests.delete(key);
    return;
  }
  const known = live.requests.get(key);
  const phase = event.phase as RequestOut["phase"];
  const since = known?.phase === phase ? known.since : now;
  live.requests.set(key, { run, llm: String(event.llm), path: String(event.path), phase, since });
}

/** Milliseconds after the first event in which what was recorded before may arrive again: it says nothing about the pace. */
const BURST = 2000;

function takeTime(live: Live, at: number): void {
  // The server counts anew if nobody watched for a while.
  if (live.first === null || at < live.last - BURST) {
    live.first = at;
    live.last = at;
    live.pace = null;
  }
  live.last = Math.max(live.last, at);
  if (!live.pace && at >= live.first + BURST) live.pace = { at: live.first + BURST, ended: live.ended.size };
}

/** Takes the numbers of the record as it was read now. */
export function takeCounts(live: Live, counts: Counts): void {
  const [ended, solved] = [live.ended.size, solvedOf(live)];
  const before = {
    total: counts.total,
    ended: Math.max(0, counts.ended - ended),
    solved: Math.max(0, counts.solved - solved),
    requests: Math.max(0, counts.requests - live.cost.requests),
    tokens: Math.max(0, counts.tokens - live.cost.tokens),
    money: counts.money === undefined ? undefined : Math.max(0, counts.money - (live.cost.money ?? 0)),
  };
  live.record = { counts, before };
}

const solvedOf = (live: Live): number => [...live.ended.values()].filter(Boolean).length;

/** All numbers at this moment: those of the record, and what has happened since it was read. */
export function countsNow(live: Live): Counts {
  const before = live.record?.before ?? { total: 0, ended: 0, solved: 0, requests: 0, tokens: 0 };
  const total = Math.max(live.total, before.total);
  const ended = before.ended + live.ended.size;
  return {
    total,
    ended: total ? Math.min(total, ended) : ended,
    solved: Math.min(ended, before.solved + solvedOf(live)),
    requests: before.requests + live.cost.requests,
    tokens: before.tokens + live.cost.tokens,
    money: moneyNow(live),
  };
}

function moneyNow({ cost, costIsTotal, record }: Live): number | undefined {
  // A server that says the cost without money does not know it.
  if (cost.money === undefined) return costIsTotal && cost.requests ? undefined : record?.counts.money;
  const before = record?.before.requests ? record.before.money : 0;
  return before === undefined ? undefined : before + cost.money;
}

/** Seconds until the tasks are done at the pace of this session; null while too few have ended to say so. */
export function secondsLeft(live: Live): number | null {
  const { total, ended } = countsNow(live);
  const paced = live.pace ? live.ended.size - live.pace.ended : 0;
  if (!live.pace || paced < 3 || total <= ended) return null;
  return ((live.last - live.pace.at) / 1000 / paced) * (total - ended);
}

/** Number of tasks in each stage, the fullest first. */
export function stageCounts(live: Live): [string, number][] {
  const counts = new Map<string, number>();
  for (const stage of live.stages.values()) counts.set(stage || "start", (counts.get(stage || "start") ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
