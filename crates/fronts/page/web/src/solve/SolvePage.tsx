// Solve: a text becomes a plan, with questions on the way.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, inWords, jobStream, openEvents, post, query } from "../api";
import { AnswerView } from "./AnswerView";
import { emptyDialogue, shortChoice, takeEvent, type Dialogue, type Reading, type SolveResult } from "./data";
import { ConsentView } from "../Consents";
import { QuestionView } from "./QuestionView";
import { TextForm } from "./TextForm";
import "./solve.css";
import { Failure } from "../Failure";

export function SolvePage() {
  const address = new URLSearchParams(location.search);
  const [job, setJob] = useState(address.get("job"));
  const path = address.get("path");
  const open = (id: string) => {
    history.pushState(null, "", `/solve${query({ job: id })}`);
    setJob(id);
  };
  useEffect(() => {
    const back = () => setJob(new URLSearchParams(location.search).get("job"));
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  if (job) return <JobView key={job} job={job} open={open} />;
  if (path) return <FolderView path={path} open={open} />;
  return <TextForm open={open} />;
}

function useSay(folder: string | undefined, open: (job: string) => void, setError: (text: string | null) => void) {
  return async (say?: string) => {
    setError(null);
    try {
      const { job } = await post<{ job: string }>("/api/jobs", { use: "solve", request: { continued: folder, say } });
      open(job);
    } catch (cause) {
      setError(inWords(cause));
    }
  };
}

/** The key of what was answered before a correction. No two servers number jobs alike. */
const keyOfJob = (id: string): string => `before ${id}`;

/** A task whose folder is there already, also one of `planforge solve`. */
function FolderView({ path, open }: { path: string; open(job: string): void }) {
  const [result, setResult] = useState<SolveResult | null>(null);
  const [error, setError] = useState<string | null>(null);
  const say = useSay(path, open, setError);
  useEffect(() => {
    get<SolveResult>(`/api/solve${query({ path })}`).then(setResult, (cause) => setError(inWords(cause)));
  }, [path]);
  return (
    <div class="solve">
      <h1>{path}</h1>
      {error && <Failure text={error} />}
      {!result && !error && <p role="status">Reading the task…</p>}
      {result && <AnswerView result={result} before={null} say={say} />}
    </div>
  );
}

function JobView({ job, open }: { job: string; open(job: string): void }) {
  const dialogue = useRef<Dialogue>(emptyDialogue());
  const [, draw] = useState(0);
  const [isLost, setLost] = useState(false);
  const [isGone, setGone] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [before, setBefore] = useState<SolveResult | null>(null);

  useEffect(() => {
    let timer = 0;
    const close = openEvents<{ kind: string }>(jobStream(job), {
      event: (event) => {
        takeEvent(dialogue.current, event);
        timer ||= window.setTimeout(() => {
          timer = 0;
          draw((n) => n + 1);
        }, 50);
      },
      connection: (isOpen) => setLost(!isOpen && dialogue.current.result === null && dialogue.current.error === null),
      gone: (cause) => {
        setLost(false);
        setGone(true);
        setError(inWords(cause));
      },
    });
    return () => {
      close();
      clearTimeout(timer);
    };
  }, [job]);
  useEffect(() => {
    const earlier = sessionStorage.getItem(keyOfJob(job));
    if (earlier) setBefore(JSON.parse(earlier) as SolveResult);
  }, [job]);

  const { state, asked, notices, readings, replies, requests, result, error: failed } = dialogue.current;
  const sayIt = useSay(result?.folder, (next) => {
    try {
      if (result) sessionStorage.setItem(keyOfJob(next), JSON.stringify(result));
    } catch {
      // The browser keeps no more: the job is shown without what it changed.
    }
    open(next);
  }, setError);
  const send = async (path: string, body: object) => {
    setError(null);
    try {
      await post(`/api/jobs/${encodeURIComponent(job)}/${path}`, body);
    } catch (cause) {
      // Another tab was first: its answer arrives as an event.
      if (!(cause instanceof ApiError && cause.code === "page.answered")) setError(inWords(cause));
    }
  };
  const isOver = isGone || ["ended", "stopped", "failed"].includes(state);
  return (
    <div class="solve">
      <h1>Solve</h1>
      {isLost && <p role="status">The connection to planforge is lost. This page connects again by itself; the work goes on.</p>}
      {error && <Failure text={error} />}
      {!isOver && (
        <div class="solve-tools">
          <p role="status">
            {state === "queued" && "Waits for its turn."}
            {state === "working" && `${replies} replies so far; ${requests.size} requests to the model are out.`}
            {state === "waiting" && "Your answer decides how it goes on."}
          </p>
          <button type="button" onClick={() => send("stop", {})}>
            Stop
          </button>
        </div>
      )}
      {!isOver && readings.size > 0 && (
        <ol class="readings" aria-label="Readings of your text">
          {[...readings].map(([path, reading], i) => (
            <li key={path}>
              Reading {i + 1} <span class="note">by {reading.model || "the model"}:</span> {wordsOfReading(reading)}
            </li>
          ))}
        </ol>
      )}
      {asked.map(({ question, consent, answer }, i) =>
        answer === null && !isOver ? (
          question ? (
            <QuestionView key={i} question={question} answer={(text) => send("answer", { question: question.question, answer: text })} />
          ) : consent ? (
            <ConsentView key={i} consent={consent} decide={(allow) => send("consent", { consent: consent.consent, allow })} />
          ) : null
        ) : answer !== null ? (
          <p key={i} class="answered">
            {question?.text ?? consent?.text} <strong>{typeof answer === "boolean" ? (answer ? "allowed" : "not allowed") : shortChoice(question?.choices[Number(answer) - 1] ?? answer)}</strong>
          </p>
        ) : null,
      )}
      {notices.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
      {failed && <Failure text={[failed.message, failed.help].filter(Boolean).join(" ")} />}
      {state === "stopped" && !failed && <p>Stopped. The replies are kept; the list of tasks or `planforge solve --continue` continues it.</p>}
      {result && <AnswerView result={result} before={before} say={sayIt} />}
      {isOver && <p><a href="/solve">{isGone ? "The tasks of this folder" : "Another text"}</a></p>}
    </div>
  );
}

function wordsOfReading({ state, isUsable }: Reading): string {
  const words = { asked: "asked for", arrived: "has arrived", read: "is read", "looked-through": "is read, and looked through for open points" }[state];
  return isUsable === false ? `${words}; it has mistakes` : words;
}

