// The runs and evaluations of the folder, and the jobs that are at work.

import { useEffect, useState } from "preact/hooks";
import { get, inWords, jobStream, query } from "../api";
import { Consents } from "../Consents";
import { isOpen, runsAddress, type Job, type Listing } from "./data";
import { StartEvaluation } from "./StartEvaluation";
import { StartRun, type About } from "./StartRun";
import { useLive } from "./useLive";
import { clock, figure } from "./words";
import { Failure } from "../Failure";

/** Milliseconds between two looks at the folder. */
const LOOK_EVERY = 3000;
const MOST_ROWS = 200;

interface Row {
  path: string;
  kind: "run" | "evaluation";
  made: string;
  what: string;
  result: string;
  state: "at work" | "ended" | "not finished";
}

function rowsOf({ runs, evaluations }: Listing, jobs: Job[]): Row[] {
  const working = new Set(jobs.filter(isOpen).map((job) => job.folder));
  const state = (path: string, inProgress: boolean, isEnded: boolean) => (inProgress || working.has(path) ? "at work" : isEnded ? "ended" : "not finished");
  const rows: Row[] = evaluations.map((one) => ({
    path: one.path,
    kind: "evaluation",
    made: "",
    what: `${figure(one.cells)} cells`,
    result: `${figure(one.finished)} of ${figure(one.cells)} cells finished`,
    state: state(one.path, one.in_progress, one.finished === one.cells),
  }));
  for (const one of runs) {
    rows.push({
      path: one.path,
      kind: "run",
      made: one.created_at,
      what: one.pipeline,
      result: one.solved === null ? `${figure(one.tasks)} tasks` : `${figure(one.solved)} of ${figure(one.tasks)} solved`,
      state: state(one.path, one.in_progress, one.solved !== null),
    });
  }
  return rows;
}

export function RunList() {
  const [listing, setListing] = useState<Listing | null>(null);
  const [jobs, setJobs] = useState<Job[]>([]);
  const [error, setError] = useState<string | null>(null);
  const [filters, setFilters] = useFilters();
  const [most, setMost] = useState(MOST_ROWS);
  const [chosen, setChosen] = useState<string[]>([]);
  const [about, setAbout] = useState<About | null>(null);
  const [started, setStarted] = useState<string | null>(null);

  useEffect(() => {
    get<About>("/api/about").then(setAbout, () => setAbout(null));
  }, []);
  useEffect(() => {
    let isGone = false;
    const look = async () => {
      try {
        const [found, working] = await Promise.all([get<Listing>("/api/runs"), get<{ jobs: Job[] }>("/api/jobs")]);
        if (isGone) return;
        setListing(found);
        setJobs(working?.jobs ?? []);
        setError(null);
      } catch (cause) {
        if (!isGone) setError(inWords(cause));
      }
    };
    look();
    const timer = setInterval(() => document.hidden || look(), LOOK_EVERY);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, []);

  const all = listing ? rowsOf(listing, jobs) : [];
  const wanted = filters.words.toLowerCase();
  const rows = all.filter((row) => (!filters.state || row.state === filters.state) && `${row.path} ${row.what}`.toLowerCase().includes(wanted));
  const choose = (path: string, isChosen: boolean) => setChosen(isChosen ? [...chosen, path] : chosen.filter((one) => one !== path));

  return (
    <div class="runs">
      <h1>Runs</h1>
      {about && about.pipelines.length > 0 && about.suites.length > 0 && (
        <>
          <StartRun about={about} started={setStarted} />
          <StartEvaluation about={about} />
        </>
      )}
      {waitingJobs(jobs, started).map((job) => (
        <JobConsents key={job} job={job} />
      ))}
      {jobs.some((job) => job.use === "solve" && job.state === "waiting") && (
        <p class="note">
          A task in words waits for an answer:{" "}
          {jobs.filter((job) => job.use === "solve" && job.state === "waiting").map((job) => (
            <a key={job.job} href={`/solve${query({ job: job.job })}`}>
              {job.title}
            </a>
          ))}
        </p>
      )}
      {error && <Failure text={error} />}
      <div class="run-tools" role="search">
        <label class="sr-only" for="runs-filter">
          Filter by name or pipeline
        </label>
        <input id="runs-filter" type="search" placeholder="Filter by name or pipeline" value={filters.words} onInput={(event) => setFilters({ ...filters, words: event.currentTarget.value })} />
        <label>
          State{" "}
          <select value={filters.state} onChange={(event) => setFilters({ ...filters, state: event.currentTarget.value })}>
            <option value="">all</option>
            <option>at work</option>
            <option>ended</option>
            <option>not finished</option>
          </select>
        </label>
        {chosen.length > 1 && <a href={runsAddress(chosen)}>Show the {chosen.length} chosen side by side</a>}
        <span class="note" role="status">
          {listing ? `${figure(rows.length)} of ${figure(all.length)}` : "Reading the folder…"}
        </span>
      </div>
      {listing?.is_incomplete && <p class="note">This folder has more than is looked at. Start `planforge serve page` with a smaller folder to see all of its runs.</p>}
      {listing && all.length === 0 && <p>There is no run in this folder yet. Start one above, or with `planforge run` in a terminal.</p>}
      {rows.length > 0 && (
        <div class="runs-table" tabIndex={0} role="group" aria-label="Runs and evaluations">
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="sr-only">Side by side</span>
                </th>
                <th scope="col">Name</th>
                <th scope="col">State</th>
                <th scope="col">Result</th>
                <th scope="col">Pipeline</th>
                <th scope="col">Made</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, most).map((row) => (
                <tr key={row.path}>
                  <td>
                    <input type="checkbox" aria-label={`Choose ${row.path} to show it side by side`} checked={chosen.includes(row.path)} onChange={(event) => choose(row.path, event.currentTarget.checked)} />
                  </td>
                  <td>
                    <a href={runsAddress([row.path])}>{row.path}</a> {row.kind === "evaluation" && <span class="note">evaluation</span>}
                  </td>
                  <td>
                    <span class={`state is-${row.state.replace(" ", "-")}`}>{row.state}</span>
                  </td>
                  <td>{row.result}</td>
                  <td>{row.what}</td>
                  <td>{row.made && <time dateTime={row.made}>{clock(row.made)}</time>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most + MOST_ROWS)}>
          Show {figure(Math.min(MOST_ROWS, rows.length - most))} more
        </button>
      )}
    </div>
  );
}

/** Most jobs whose decisions are asked for in the list: each takes a connection. */
const MOST_ASKED = 2;

/** Jobs of runs and evaluations that wait for a decision, and the one that was just started here. */
function waitingJobs(jobs: Job[], started: string | null): string[] {
  const waiting = jobs.filter((job) => job.state === "waiting" && job.use !== "solve").map((job) => job.job);
  return [...new Set(started === null ? waiting : [started, ...waiting])].slice(0, MOST_ASKED);
}

function JobConsents({ job }: { job: string }) {
  const { live } = useLive(jobStream(job));
  return <Consents job={job} open={live.decisions.filter((one) => one.allowed === null)} />;
}

interface Filters {
  words: string;
  state: string;
}

/** Filters that are kept in the address, so that it shows the same list to a colleague. */
function useFilters(): [Filters, (filters: Filters) => void] {
  const query = new URLSearchParams(location.search);
  const [filters, set] = useState<Filters>({ words: query.get("words") ?? "", state: query.get("state") ?? "" });
  return [
    filters,
    (next) => {
      set(next);
      const used = new URLSearchParams(Object.entries(next).filter(([, value]) => value));
      history.replaceState(history.state, "", `${location.pathname}${used.size ? `?${used}` : ""}`);
    },
  ];
}
