// Makes a run folder with many trials out of a small one, for measurements: `node many-trials.mjs RUN OUT [TRIALS]`.
// The trials repeat those of the small run under other task names, so the folder has real prompts, replies and verdicts.
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export function makeManyTrials(run, out, trials = 10_000) {
  mkdirSync(join(out, "events"), { recursive: true });
  mkdirSync(join(out, "spool"), { recursive: true });
  cpSync(join(run, "blobs"), join(out, "blobs"), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(run, "run.json"), "utf8"));
  const small = manifest.tasks;
  const name = (k) => `${small[k % small.length].name}-${String(k).padStart(5, "0")}`;
  manifest.id = out.split("/").pop();
  manifest.tasks = Array.from({ length: trials }, (_, k) => ({ ...small[k % small.length], name: name(k) }));
  writeFileSync(join(out, "run.json"), JSON.stringify(manifest));

  const lines = readdirSync(join(run, "events")).sort().flatMap((file) => readFileSync(join(run, "events", file), "utf8").trim().split("\n"));
  const ofTask = (task) => lines.filter((line) => line.includes(`"task":"${task}"`) || line.includes(`"path":"${task}/`));
  const patterns = small.map(({ name: task }) => ({ task, lines: ofTask(task) }));
  const events = [lines[0]];
  for (let k = 0; k < trials; k++) {
    const { task, lines: own } = patterns[k % patterns.length];
    for (const line of own) events.push(line.replaceAll(`"${task}"`, `"${name(k)}"`).replaceAll(`"${task}/`, `"${name(k)}/`).replaceAll(`:${task}/`, `:${name(k)}/`));
  }
  events.push(lines.at(-1));
  writeFileSync(join(out, "events", "0001.jsonl"), events.join("\n") + "\n");
  return out;
}

if (process.argv[1] === import.meta.filename) makeManyTrials(process.argv[2], process.argv[3], Number(process.argv[4] ?? 10_000));
