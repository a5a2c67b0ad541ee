// The state of a run at this moment, computed from its events.

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
  caps?: { calls?: number; tokens?: number; money?: number };
}

export interface Live {
  /** Tasks of the runs that have started. */
  total: number;
  finished: number;
  solved: number;
  /** Task of a run -> the stage that it is in. */
  stages: Map<string, string>;
  requests: Map<string, RequestOut>;
  cost: Cost;
  /** True once the server has sent the cost itself; before that it is added up from replies. */
  costIsTotal: boolean;
  /** Milliseconds at which the first event arrived. */
  began: number;
  /** Changes when a trial or a stage ends, so that tables are worth reading again. */
  changes: number;
  ended: boolean;
}

export const emptyLive = (now: number): Live => ({
  total: 0,
  finished: 0,
  solved: 0,
  stages: new Map(),
  requests: new Map(),
  cost: { requests: 0, tokens: 0 },
  costIsTotal: false,
  began: now,
  changes: 0,
  ended: false,
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
  switch (event.kind) {
    case "run-started":
      live.total += Number(event.tasks ?? 0);
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
      live.ended = ["ended", "stopped", "failed"].includes(String(event.state));
      if (live.ended) live.requests.clear();
      break;
  }
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
      live.finished++;
      if (record.verdict?.verdict === "accepted") live.solved++;
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

/** Seconds until the tasks are done if they go on as until now; null while too few have ended to say so. */
export function secondsLeft(live: Live, now: number): number | null {
  const open = live.total - live.finished;
  if (live.finished < 3 || open <= 0) return null;
  return ((now - live.began) / 1000 / live.finished) * open;
}

/** Number of tasks in each stage, the fullest first. */
export function stageCounts(live: Live): [string, number][] {
  const counts = new Map<string, number>();
  for (const stage of live.stages.values()) counts.set(stage || "start", (counts.get(stage || "start") ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
