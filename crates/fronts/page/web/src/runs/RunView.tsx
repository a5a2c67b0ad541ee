// One run or evaluation, or several side by side: what is at work, and everything that the record holds.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, inWords, jobStream, post, query } from "../api";
import { Consents } from "../Consents";
import type { ShownReport } from "../../../../../lab/report/assets/js/app.js";
import { THEME_CHANGED } from "../theme";
import { LivePanel } from "./LivePanel";
import { countsOf, isOpen, readReport, runsAddress, type Job, type Listing } from "./data";
import type { Counts } from "./live";
import { useLive, watchStream } from "./useLive";
import { Failure } from "../Failure";

/** Milliseconds between two looks at the list of runs and jobs: each costs the server a walk through the folder. With events, the last one says that the state has changed. */
const LOOK_EVERY = { alone: 4000, withEvents: 20_000 };
/** Data is read again after at least this many milliseconds, and at least ten times as long as reading takes. */
const READ_EVERY = 2000;

interface State {
  job: Job | null;
  inProgress: boolean;
  isEvaluation: boolean;
  isFinished: boolean;
  /** Cells of an evaluation, and those of them that are not finished; 0 for a run. */
  cells: number;
  openCells: number;
  others: string[];
  /** The message of the newest job on the folder, if it failed. */
  failure: string | null;
}

export function RunView({ paths }: { paths: string[] }) {
  const [path] = paths as [string];
  const state = useFolder(path);
  const stream = state.job ? jobStream(state.job.job) : state.inProgress && !state.isEvaluation ? watchStream(path) : null;
  const { live, isLost, gone, take } = useLive(stream);
  const isWorking = state.job !== null || state.inProgress;
  state.hasEvents.current = stream !== null && !live.isOver && gone === null && !isLost;
  useEffect(() => {
    if (live.isOver || gone !== null) state.look();
  }, [live.isOver, gone]);
  const [error, setError] = useState<string | null>(null);
  const send = async (address: string, body: object) => {
    setError(null);
    try {
      await post(address, body);
      state.look();
    } catch (cause) {
      setError(inWords(cause));
    }
  };
  const resume = () =>
    send("/api/jobs", state.isEvaluation ? { use: "evaluate", request: { out: path, resume: true } } : { use: "resume", request: { run: path } });
  const stop = () => state.job && send(`/api/jobs/${encodeURIComponent(state.job.job)}/stop`, {});

  return (
    <div class="run">
      <div class="run-tools">
        <a href="/runs">All runs</a>
        {state.job && (
          <button type="button" onClick={stop} title="The record is kept. The run can be resumed later.">
            Pause
          </button>
        )}
        {!isWorking && !state.isFinished && paths.length === 1 && (
          <button type="button" onClick={resume} title="Continues what is not finished, and begins cells that were never begun. No request is paid for twice.">
            {state.openCells > 0 ? `Resume ${state.openCells} of ${state.cells} cells` : "Resume"}
          </button>
        )}
        <label>
          Side by side with{" "}
          <select value="" onChange={(event) => (location.href = runsAddress([...paths, event.currentTarget.value]) + location.hash)}>
            <option value="">choose</option>
            {state.others.filter((other) => !paths.includes(other)).map((other) => (
              <option key={other}>{other}</option>
            ))}
          </select>
        </label>
        {paths.slice(1).map((other) => (
          <a key={other} href={runsAddress(paths.filter((one) => one !== other))}>
            Remove {other}
          </a>
        ))}
        <a href={`/api/report${query({ path: paths })}`} download>
          Download as one file
        </a>
      </div>
      {(error ?? state.failure) && (
        <p class="error" role="alert">
          {error ?? state.failure}
        </p>
      )}
      {state.job && <Consents job={state.job.job} open={live.decisions.filter((one) => one.allowed === null)} />}
      {isWorking && stream !== null && <LivePanel live={live} isLost={isLost} gone={gone} />}
      {state.inProgress && !state.job && <p class="note">Another process of planforge works on this. It can be paused there (Ctrl-C).</p>}
      <Report paths={paths} changes={isWorking ? live.changes : -1} poll={isWorking && stream === null} take={take} />
    </div>
  );
}

/** The entry of a folder in the server's lists, looked up again and again while the page is in sight. */
function useFolder(path: string): State & { look(): void; hasEvents: { current: boolean } } {
  const [state, setState] = useState<State>({ job: null, inProgress: false, isEvaluation: false, isFinished: true, cells: 0, openCells: 0, others: [], failure: null });
  const look = useRef(() => {});
  const hasEvents = useRef(false);
  useEffect(() => {
    let isGone = false;
    let looked = 0;
    look.current = async () => {
      looked = Date.now();
      try {
        const [listing, jobs] = await Promise.all([get<Listing>("/api/runs"), get<{ jobs: Job[] }>("/api/jobs")]);
        if (isGone || !listing || !jobs) return;
        const run = listing.runs.find((one) => one.path === path);
        const evaluation = listing.evaluations.find((one) => one.path === path);
        const newest = jobs.jobs.find((job) => job.folder === path);
        setState({
          job: newest && isOpen(newest) ? newest : null,
          failure: newest?.state === "failed" ? (newest.line ?? "The work failed.") : null,
          inProgress: (run ?? evaluation)?.in_progress ?? false,
          isEvaluation: evaluation !== undefined,
          cells: evaluation?.cells ?? 0,
          openCells: evaluation ? evaluation.cells - evaluation.finished : 0,
          isFinished: evaluation ? evaluation.finished === evaluation.cells : run?.solved !== null,
          others: [...listing.runs, ...listing.evaluations].map((one) => one.path),
        });
      } catch {
        // The next look may succeed; what is shown stays.
      }
    };
    look.current();
    const timer = setInterval(() => {
      const every = hasEvents.current ? LOOK_EVERY.withEvents : LOOK_EVERY.alone;
      if (!document.hidden && Date.now() - looked >= every - 100) look.current();
    }, LOOK_EVERY.alone);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [path]);
  return { ...state, hasEvents, look: () => look.current() };
}

/** The report of these folders. It is read again when `changes` changes, or from time to time where no events arrive. */
function Report({ paths, changes, poll, take }: { paths: string[]; changes: number; poll: boolean; take(counts: Counts): void }) {
  const main = useRef<HTMLDivElement>(null);
  const crumbs = useRef<HTMLElement>(null);
  const report = useRef<ShownReport | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isRead, setRead] = useState(false);
  const key = paths.join("\n");
  const reader = useRef<() => void>(() => {});

  useEffect(() => {
    let isGone = false;
    let build: number | undefined;
    let isReading = false;
    let isWanted = false;
    let timer = 0;
    const read = async () => {
      isWanted = false;
      isReading = true;
      let took = 0;
      try {
        const [{ showReport }, newest] = await Promise.all([import("./report"), readReport(paths, build)]);
        if (isGone) return;
        if (newest && main.current && crumbs.current) {
          build = newest.build;
          took = newest.took;
          if (paths.length === 1) take(countsOf(newest.data.index));
          if (report.current) report.current.update(newest.data);
          else report.current = showReport({ main: main.current, crumbs: crumbs.current, data: newest.data });
        }
        setError(null);
        setRead(true);
      } catch (cause) {
        if (isGone) return;
        setError(inWords(cause));
        setRead(true);
      }
      timer = window.setTimeout(() => {
        isReading = false;
        if (isWanted) read();
      }, Math.max(READ_EVERY, 10 * took));
    };
    reader.current = () => {
      isWanted = true;
      if (!isReading) read();
    };
    reader.current();
    return () => {
      isGone = true;
      clearTimeout(timer);
      report.current?.stop();
      report.current = null;
      main.current?.replaceChildren();
    };
  }, [key]);

  useEffect(() => {
    const redraw = () => report.current?.redraw();
    addEventListener(THEME_CHANGED, redraw);
    return () => removeEventListener(THEME_CHANGED, redraw);
  }, []);
  useEffect(() => reader.current(), [changes]);
  useEffect(() => {
    if (!poll) return;
    const timer = setInterval(() => document.hidden || reader.current(), 5000);
    return () => clearInterval(timer);
  }, [poll]);

  return (
    <div class="report">
      {!isRead && <p role="status">Reading the record…</p>}
      {error && <Failure text={error} />}
      <div class="report-top">
        <nav ref={crumbs} aria-label="Where you are in the run" />
      </div>
      <div ref={main} class="report-main" />
    </div>
  );
}
