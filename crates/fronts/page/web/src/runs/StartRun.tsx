// Starts a run of a pipeline on a suite, and opens it.

import { useState } from "preact/hooks";
import { get, post } from "../api";
import { Estimate } from "./Estimate";
import { isOpen, runsAddress, type Job } from "./data";
import { Failure } from "../Failure";
import { useWork } from "./useWork";

export interface About {
  pipelines: { path: string; title?: string }[];
  matrices: string[];
  suites: string[];
  models: { name: string; title: string; kind: string }[];
}

/** Milliseconds between two looks for the folder of the new run. */
const LOOK_EVERY = 300;

/** `started` gets the job, which may ask for a decision before it has a folder. */
export function StartRun({ about, started }: { about: About; started(job: string): void }) {
  const [pipeline, setPipeline] = useState("");
  const [suite, setSuite] = useState("");
  const [model, setModel] = useState("");
  const { isBusy, error, work } = useWork();
  const request = { pipeline, suite: [suite], model: model.trim() || undefined };

  const start = (event: Event) => {
    event.preventDefault();
    work(async () => {
      const { job } = await post<{ job: string }>("/api/jobs", { use: "run", request });
      started(job);
      location.href = runsAddress([await folderOf(job)]);
    });
  };

  return (
    <details class="start-run">
      <summary>Start a run</summary>
      <form onSubmit={start}>
        <Choice label="Pipeline" value={pipeline} set={setPipeline} options={about.pipelines.map((one) => one.path)} isRequired />
        <Choice label="Suite of tasks" value={suite} set={setSuite} options={about.suites} isRequired />
        <ModelNames label="Model" about={about} value={model} set={setModel} />
        <Estimate key={JSON.stringify(request)} use="run" request={request} isReady={pipeline !== "" && suite !== ""} />
        <button type="submit" disabled={isBusy || !pipeline || !suite}>
          {isBusy ? "Starting…" : "Start"}
        </button>
        {error && <Failure text={error} />}
      </form>
    </details>
  );
}

/** One of several options, or none. */
export function Choice({ label, value, set, options, isRequired }: { label: string; value: string; set(value: string): void; options: string[]; isRequired?: boolean }) {
  return (
    <label>
      {label}
      <select required={isRequired} value={value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{isRequired ? "choose" : "none"}</option>
        {options.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

/** Names of models. Without one, the files of the pipelines say which model is asked. */
export function ModelNames({ label, about, value, set }: { label: string; about: About; value: string; set(value: string): void }) {
  return (
    <label>
      {label}
      <input value={value} list="models" placeholder="as the pipeline says" onInput={(event) => set(event.currentTarget.value)} />
      <datalist id="models">
        {about.models
          .filter((one) => one.kind !== "recorded")
          .map((one) => (
            <option key={one.name} value={one.name}>
              {one.title}
            </option>
          ))}
      </datalist>
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
