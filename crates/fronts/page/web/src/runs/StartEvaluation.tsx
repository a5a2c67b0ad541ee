// Starts an evaluation of pipelines on suites, after an estimate of what it costs.

import { useState } from "preact/hooks";
import { post } from "../api";
import { runsAddress } from "./data";
import { Estimate } from "./Estimate";
import { type About, Choice, ModelNames } from "./StartRun";
import { Failure } from "../Failure";
import { useWork } from "./useWork";

interface Request {
  out: string;
  matrix?: string;
  suites?: string[];
  pipelines?: string[];
  models: string[];
  seeds?: string;
  tasks?: number;
}

/** A folder for results that has no other ones. */
const freeName = (): string => `evaluations/${new Date().toISOString().slice(0, 16).replace("T", "-").replace(":", "")}`;

export function StartEvaluation({ about }: { about: About }) {
  const [matrix, setMatrix] = useState("");
  const [suites, setSuites] = useState<string[]>([]);
  const [pipelines, setPipelines] = useState<string[]>([]);
  const [models, setModels] = useState("");
  const [seeds, setSeeds] = useState("1");
  const [tasks, setTasks] = useState("");
  const [out, setOut] = useState(freeName);
  const { isBusy, error, work } = useWork();
  // A pipeline that comes with planforge has no file in the folder.
  const files = about.pipelines.map((one) => one.path).filter((path) => !path.startsWith("shipped:"));
  if (!files.length && !about.matrices.length) return null;

  const request: Request = {
    out,
    models: models.split(/[\s,]+/).filter(Boolean),
    ...(matrix ? { matrix } : { suites, pipelines, seeds, tasks: tasks ? Number(tasks) : undefined }),
  };
  const isReady = matrix !== "" || (suites.length > 0 && pipelines.length > 0);
  const start = (event: Event) => {
    event.preventDefault();
    work(async () => {
      await post("/api/jobs", { use: "evaluate", request });
      location.href = runsAddress([out]);
    });
  };
  return (
    <details class="start-run">
      <summary>Start an evaluation</summary>
      <form onSubmit={start}>
        {about.matrices.length > 0 && <Choice label="Matrix file with suites and pipelines" value={matrix} set={setMatrix} options={about.matrices} />}
        {!matrix && (
          <>
            <Several legend="Suites of tasks" options={about.suites} chosen={suites} set={setSuites} />
            <Several legend="Pipelines" options={files} chosen={pipelines} set={setPipelines} />
            <label>
              Seeds, such as 1 or 42-45
              <input value={seeds} required onInput={(event) => setSeeds(event.currentTarget.value)} />
            </label>
            <label>
              Tasks of each suite at most
              <input type="number" min={1} value={tasks} placeholder="all" onInput={(event) => setTasks(event.currentTarget.value)} />
            </label>
          </>
        )}
        <ModelNames label="Models, with a space between two" about={about} value={models} set={setModels} />
        <label>
          New folder for the results
          <input value={out} required onInput={(event) => setOut(event.currentTarget.value)} />
        </label>
        <Estimate key={JSON.stringify(request)} use="evaluate" request={request} isReady={isReady} />
        <button type="submit" disabled={isBusy || !isReady}>
          {isBusy ? "Please wait…" : "Start the evaluation"}
        </button>
        {error && <Failure text={error} />}
      </form>
    </details>
  );
}

/** A list of which several can be chosen. */
function Several({ legend, options, chosen, set }: { legend: string; options: string[]; chosen: string[]; set(chosen: string[]): void }) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      {options.map((one) => (
        <label key={one}>
          <input type="checkbox" checked={chosen.includes(one)} onChange={(event) => set(event.currentTarget.checked ? [...chosen, one] : chosen.filter((other) => other !== one))} /> {one}
        </label>
      ))}
    </fieldset>
  );
}
