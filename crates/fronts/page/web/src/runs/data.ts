// Calls of the server for runs, evaluations and reports.

import { get, query } from "../api";
import type { Counts } from "./live";
import type { ReportData, TaskPages } from "../../../../../lab/report/assets/js/app.js";

export interface ListedRun {
  /** The run folder, relative to the folder of the page. */
  path: string;
  created_at: string;
  pipeline: string;
  tasks: number;
  /** Absent while the run has no report. */
  solved: number | null;
  in_progress: boolean;
}

export interface ListedEvaluation {
  path: string;
  /** Cells of its matrix. */
  cells: number;
  finished: number;
  in_progress: boolean;
}

export interface Listing {
  runs: ListedRun[];
  evaluations: ListedEvaluation[];
  /** True if the folder holds more than the server looks at. */
  is_incomplete: boolean;
}

export interface Job {
  job: string;
  use: string;
  title: string;
  state: "queued" | "working" | "waiting" | "ended" | "stopped" | "failed";
  started_at: number;
  line?: string;
  folder?: string;
}

export const isOpen = (job: Job): boolean => ["queued", "working", "waiting"].includes(job.state);

/** The numbers of a report. Money is known only if that of each cell with requests is. */
export function countsOf({ cells }: ReportData["index"]): Counts {
  const counts: Counts = { total: 0, ended: 0, solved: 0, requests: 0, tokens: 0, money: 0 };
  for (const { counts: of, tokens } of cells) {
    const ended = of.solved + of.not_solved + of.undecided + of.failed;
    counts.total += ended + of.unfinished;
    counts.ended += ended;
    counts.solved += of.solved;
    counts.requests += tokens.calls;
    counts.tokens += tokens.prompt + tokens.completion;
    if (tokens.calls && (tokens.cost === undefined || counts.money === undefined)) delete counts.money;
    else if (tokens.calls) counts.money = (counts.money ?? 0) + (tokens.cost ?? 0);
  }
  if (!counts.requests) delete counts.money;
  return counts;
}

/** The address of a view of runs: `paths` are folders, more than one stand side by side. */
export const runsAddress = (paths: string[]): string => `/runs${query({ path: paths })}`;

export interface Build {
  build: number;
  data: ReportData;
  /** Milliseconds that the server took. */
  took: number;
}

/** The contents of a report of these folders; null if nothing changed since the build `have`. */
export async function readReport(paths: string[], have?: number): Promise<Build | null> {
  const began = performance.now();
  const answer = await get<{ build: number; index: ReportData["index"] }>(`/api/report/index${query({ path: paths, have })}`);
  if (!answer) return null;
  const { build, index } = answer;
  const part = async <T>(path: string): Promise<T> => {
    const values = await get<T>(path);
    if (!values) throw new Error("The server has no such part any more. Load the page again.");
    return values;
  };
  const chunk = (name: string) => part<unknown[]>(`/api/report/chunk${query({ build, name })}`);
  const tasks = (run: number, from: number, to: number) => part<TaskPages>(`/api/report/tasks${query({ build, run, from, to })}`);
  return { build, data: { index, chunk, tasks }, took: performance.now() - began };
}
