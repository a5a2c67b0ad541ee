// Starts a run of a pipeline on a suite, and opens it.

import { useState } from "preact/hooks";
import { get, inWords, post } from "../api";
import { Estimate } from "./Estimate";
import { isOpen, runsAddress, type Job } from "./data";
import { Failure } from "../Failure";

export interface About {
  pipelines: { path: string; title?: string }[];
  suites: string[];
}

/** Milliseconds between two looks for the folder of the new run. */
const LOOK_EVERY = 300;

/** `started` gets the job, which may ask for a decision before it has a folder. */
export function StartRun({ about, started }: { about: About; started(job: string): void }) {
  const [pipeline, setPipeline] = useState("");
  const [suite, setSuite] = useState("");
  const [state, setState] = useState<{ isBusy: boolean; error: string | null }>({ isBusy: false, error: null });

  const start = async (event: Event) => {
    event.preventDefault();
    setState({ isBusy: true, error: null });
    try {
      const { job } = await post<{ job: string }>("/api/jobs", { use: "run", request: { pipeline, suite: [suite] } });
      started(job);
      location.href = runsAddress([await folderOf(job)]);
    } catch (cause) {
      setState({ isBusy: false, error: inWords(cause) });
    }
  };

  return (
    <details class="start-run">
      <summary>Start a run</summary>
      <form onSubmit={start}>
        <Choice label="Pipeline" value={pipeline} set={setPipeline} options={about.pipelines.map((one) => one.path)} />
        <Choice label="Suite of tasks" value={suite} set={setSuite} options={about.suites} />
        <Estimate key={`${pipeline} ${suite}`} use="run" request={{ pipeline, suite: [suite] }} isReady={pipeline !== "" && suite !== ""} />
        <button type="submit" disabled={state.isBusy || !pipeline || !suite}>
          {state.isBusy ? "Starting…" : "Start"}
        </button>
        {state.error && <Failure text={state.error} />}
      </form>
    </details>
  );
}

function Choice({ label, value, set, options }: { label: string; value: string; set(value: string): void; options: string[] }) {
  return (
    <label>
      {label}
      <select required value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">choose</option>
        {options.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

/** The folder of a job, once the server knows it. */
async function folderOf(id: string): Promise<string> {
  for (;;) {
    const jobs = await get<{ jobs: Job[] }>("/api/jobs");
    const job = jobs?.jobs.find((one) => one.job === id);
    if (job?.folder) return job.folder;
    if (!job || !isOpen(job)) throw new Error(job?.line ?? "The run ended before its folder was made.");
    await new Promise((done) => setTimeout(done, LOOK_EVERY));
  }
}
