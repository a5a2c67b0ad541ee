// The form for a new text, and the tasks of the folder.

import { useEffect, useState } from "preact/hooks";
import { get, inWords, post, query } from "../api";
import { Failure } from "../Failure";

interface Model {
  name: string;
  title: string;
  has_key: boolean;
}

interface Task {
  path: string;
  line: string;
  answered: boolean;
}

/** Largest text that is sent, in bytes. The server has its own limit. */
const MOST_BYTES = 5_000_000;

export function TextForm({ open }: { open(job: string): void }) {
  const [models, setModels] = useState<Model[]>([]);
  const [tasks, setTasks] = useState<Task[]>([]);
  const [text, setText] = useState("");
  const [map, setMap] = useState("");
  const [rules, setRules] = useState("");
  const [domain, setDomain] = useState("");
  const [model, setModel] = useState("demo");
  const [name, setName] = useState("");
  const [notes, setNotes] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  useEffect(() => {
    const failed = (cause: unknown) => setError(inWords(cause));
    const add = (note: string) => setNotes((notes) => [...notes, note]);
    get<{ models: Model[]; models_error?: string }>("/api/about").then((about) => {
      setModels(about?.models ?? []);
      if (about?.models_error) add(`Your own models are missing: ${about.models_error}`);
    }, failed);
    get<{ tasks: Task[]; is_incomplete: boolean }>("/api/runs").then((found) => {
      setTasks(found?.tasks ?? []);
      if (found?.is_incomplete) add("This folder has more than is looked at: some tasks may be missing in the list.");
    }, failed);
  }, []);

  const fillDemo = async () => {
    setModel("demo");
    setText((await get<{ text: string }>("/api/demo-text"))?.text ?? "");
  };
  const start = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const chosen = model.endsWith(":") ? model + name : model;
      const { job } = await post<{ job: string }>("/api/jobs", { use: "solve", request: { text: textWithMap(text, map), rules: rules || undefined, domain: domain || undefined, model: [chosen] } });
      open(job);
    } catch (cause) {
      setError(inWords(cause));
      setBusy(false);
    }
  };
  return (
    <div class="solve">
      <h1>From a text to a plan</h1>
      <form class="text-form" onSubmit={start}>
        <TextBox label="What there is, what can be done, and what is wanted" value={text} set={setText} rows={10} say={setError} />
        <div class="solve-tools">
          <button type="button" onClick={fillDemo}>
            Take the text of the demo
          </button>
          <label>
            Model{" "}
            <select value={model} onChange={(event) => setModel(event.currentTarget.value)}>
              {models.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.title === "Your configuration" ? one.name : one.title}
                  {one.has_key ? "" : " (no key found)"}
                </option>
              ))}
            </select>
          </label>
          {model.endsWith(":") && (
            <label>
              Name of the model <input value={name} required onInput={(event) => setName(event.currentTarget.value)} />
            </label>
          )}
        </div>
        {notes.map((note) => (
          <p key={note} class="note" role="status">
            {note}
          </p>
        ))}
        <details>
          <summary>A map drawn with characters</summary>
          <TextBox label="The map: a row a line, each place or wall one character" value={map} set={setMap} rows={7} say={setError} isDrawing />
          <p class="note">It is put below your text. Say in the text what each character means.</p>
        </details>
        <details>
          <summary>Rules, or a domain that you have already</summary>
          <TextBox label="Rules in words: what can be done, and when" value={rules} set={setRules} rows={5} say={setError} />
          <TextBox label="Domain in PDDL" value={domain} set={setDomain} rows={5} say={setError} />
        </details>
        {error && <Failure text={error} />}
        <button type="submit" class="main-button" disabled={isBusy || !text.trim()}>
          {isBusy ? "Starting…" : "Make a plan"}
        </button>
        {model === "demo" && <p class="note">The demo's model has recorded replies. They fit the text of the demo only.</p>}
      </form>
      {tasks.length > 0 && (
        <section>
          <h2>Tasks in this folder</h2>
          <ul class="tasks">
            {tasks.map((task) => (
              <li key={task.path}>
                <a href={`/solve${query({ path: task.path })}`}>{task.path}</a> {task.line} <span class="note">{task.answered ? "has an answer" : "not finished"}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** The text with the map below it. The rows keep their spaces, and blank lines part them from the sentences. */
export function textWithMap(text: string, map: string): string {
  const rows = map.replace(/\r/g, "").split("\n").map((row) => row.trimEnd());
  while (rows.length && !rows[0]) rows.shift();
  while (rows.length && !rows.at(-1)) rows.pop();
  return rows.length ? `${text.trimEnd()}\n\nMap:\n\n${rows.join("\n")}\n` : text;
}

/** A text that can be typed, or dropped as a file. */
function TextBox({ label, value, set, rows, say, isDrawing = false }: { label: string; value: string; set(text: string): void; rows: number; say(error: string): void; isDrawing?: boolean }) {
  const read = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MOST_BYTES) say(`${file.name} has ${Math.ceil(file.size / 1e6)} MB. A text may have 5 MB.`);
    else set(await file.text());
  };
  return (
    <label class="text-box">
      {label}
      <textarea
        class={isDrawing ? "drawing" : undefined}
        spellcheck={!isDrawing}
        wrap={isDrawing ? "off" : undefined}
        rows={rows}
        value={value}
        placeholder="Type here, or drop a file"
        onInput={(event) => set(event.currentTarget.value)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          read(event.dataTransfer?.files[0]);
        }}
      />
    </label>
  );
}
