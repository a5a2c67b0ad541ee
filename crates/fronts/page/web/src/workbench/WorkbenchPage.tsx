// The PDDL workbench: a domain and a problem in editors, and what can be asked about them.

import { useEffect, useRef, useState } from "preact/hooks";
import { inWords, jobStream, openEvents, post } from "../api";
import { Stepper } from "../solve/Stepper";
import type { Steps } from "../solve/data";
import { makeEditors, type Editors } from "./editor";
import type { Fix } from "./findings";
import { FIRST } from "./first";
import "./workbench.css";
import { Failure } from "../Failure";

const SEARCHING = "Searching for a plan…";
/** Seconds after which a search ends, unless the person gives another limit; and the most that the server takes. */
const LIMIT = { first: 60, most: 86_400 };
const STORE = "planforge-workbench";

interface Texts {
  domain: string;
  problem: string;
  plan: string;
}

/** An answer below the editors. */
type Shown = { title: string; lines: string[]; pictures?: string[]; steps?: Steps };

function stored(): Texts {
  try {
    return { ...FIRST, ...(JSON.parse(sessionStorage.getItem(STORE) ?? "{}") as Partial<Texts>) };
  } catch {
    return FIRST;
  }
}

export function WorkbenchPage() {
  const domainPlace = useRef<HTMLDivElement>(null);
  const problemPlace = useRef<HTMLDivElement>(null);
  const editors = useRef<Editors | null>(null);
  const [plan, setPlan] = useState(stored().plan);
  const [shown, setShown] = useState<Shown | null>(null);
  const [at, setAt] = useState(0);
  const [other, setOther] = useState<Texts | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [job, setJob] = useState<string | null>(null);
  const [limit, setLimit] = useState(LIMIT.first);
  const [fixes, setFixes] = useState<Record<string, Fix[]>>({});
  const planNow = useRef(plan);
  planNow.current = plan;

  const texts = (): Texts => {
    const [domain = "", problem = ""] = editors.current?.texts() ?? [];
    return { domain, problem, plan: planNow.current };
  };
  const keep = () => sessionStorage.setItem(STORE, JSON.stringify(texts()));

  useEffect(() => {
    let isGone = false;
    const first = stored();
    if (!domainPlace.current || !problemPlace.current) return;
    const files = [
      { place: domainPlace.current, name: "domain.pddl", label: "Domain", text: first.domain },
      { place: problemPlace.current, name: "problem.pddl", label: "Problem", text: first.problem },
    ];
    makeEditors(files, keep, setError, { takeFixes: (name, found) => setFixes((all) => ({ ...all, [name]: found })) }).then((made) => {
      if (isGone) made.close();
      else editors.current = made;
    });
    return () => {
      isGone = true;
      editors.current?.close();
    };
  }, []);

  const ask = async (work: () => Promise<Shown>) => {
    setError(null);
    try {
      setShown(await work());
      setAt(0);
    } catch (cause) {
      setError(inWords(cause));
    }
  };

  const makePlan = (optimal: boolean) =>
    ask(async () => {
      const { domain, problem } = texts();
      const started = await post<{ job: string }>("/api/jobs", { use: "plan", request: { domain, problem, optimal, time_limit: limit } });
      setJob(started.job);
      return { title: SEARCHING, lines: [] };
    });
  useEffect(() => {
    if (job === null) return;
    return openEvents<PlanEvent>(jobStream(job), {
      event: (event) => {
        if (event.kind === "notice") setShown((now) => ({ title: now?.title ?? "", lines: [...(now?.lines ?? []), String(event.text)] }));
        if (event.kind === "error") {
          setError([event.error?.message, event.error?.help].filter(Boolean).join(". "));
          setShown((now) => ({ title: "No plan", lines: now?.lines ?? [] }));
        }
        if (event.kind === "result") takePlan(event.result as PlanReport);
        if (event.kind === "state" && ["ended", "stopped", "failed"].includes(String(event.state))) {
          setJob(null);
          setShown((now) => (now?.title === SEARCHING ? { ...now, title: "The search was stopped" } : now));
        }
      },
      connection: () => {},
      gone: (cause) => {
        setJob(null);
        setShown(null);
        setError(inWords(cause));
      },
    });
  }, [job]);
  const takePlan = (report: PlanReport) => {
    const steps = linesOfPlan(report);
    if (steps) {
      setPlan(steps.join("\n"));
      planNow.current = steps.join("\n");
      keep();
    }
    setShown((now) => ({ title: steps ? titleOf(steps.length) : `No plan: ${report.outcome}`, lines: [...(now?.lines ?? []), ...report.explanation] }));
  };

  const validate = () =>
    ask(async () => {
      const report = await post<Validated>("/api/pddl/validate", texts());
      return { title: report.decision ? `The plan: ${report.decision}` : "The plan", lines: linesOf(report) };
    });
  const step = () =>
    ask(async () => {
      const steps = await post<Steps & Validated>("/api/pddl/steps", texts());
      return { title: "The states along the plan", lines: linesOf(steps), steps };
    });
  const draw = (what: string, title: string) =>
    ask(async () => {
      const { domain, problem } = texts();
      const drawn = await post<{ svg: string; text?: string }>("/api/pddl/draw", what === "types" || what === "causal" ? { domain, what } : { domain, problem, what });
      return { title, lines: [], pictures: [drawn.svg] };
    });
  const compare = () =>
    ask(async () => {
      const now = texts();
      if (!other) throw new Error("Keep a version first.");
      const report = await post<Compared>("/api/pddl/compare", { domain: other.domain, problem: other.problem, other_domain: now.domain, other_problem: now.problem });
      const words = { equal: "Both versions behave in the same way", different: "The versions behave differently" }[report.decision ?? ""] ?? "It is not decided if the versions differ";
      // The server calls the first task the reference and the second one the candidate.
      return { title: words, lines: (report.in_words ?? []).map((line) => line.replaceAll("the reference", "the kept version").replaceAll("the candidate", "this version")) };
    });

  return (
    <div class="workbench">
      <h1>PDDL workbench</h1>
      <div class="editors">
        <section aria-label="Domain">
          <h2>Domain</h2>
          <div class="editor" ref={domainPlace} />
          <Fixes of="domain" fixes={fixes["domain.pddl"]} />
        </section>
        <section aria-label="Problem">
          <h2>Problem</h2>
          <div class="editor" ref={problemPlace} />
          <Fixes of="problem" fixes={fixes["problem.pddl"]} />
        </section>
      </div>
      <div class="bench-tools">
        <button type="button" class="main-button" onClick={() => makePlan(false)} disabled={job !== null}>
          Plan
        </button>
        <button type="button" onClick={() => makePlan(true)} disabled={job !== null}>
          Best plan
        </button>
        <label>
          Seconds at most{" "}
          <input type="number" class="seconds" min={1} max={LIMIT.most} value={limit} onInput={(event) => setLimit(Math.min(LIMIT.most, Math.max(1, Number(event.currentTarget.value) || LIMIT.first)))} />
        </label>
        {job !== null && (
          <button type="button" onClick={() => post(`/api/jobs/${encodeURIComponent(job)}/stop`, {}).catch(() => {})}>
            Stop
          </button>
        )}
        <button type="button" onClick={validate}>
          Check the plan
        </button>
        <button type="button" onClick={step}>
          Step through
        </button>
        <button type="button" onClick={() => editors.current?.format()}>
          Format
        </button>
        <button type="button" onClick={() => draw("types", "Types")}>
          Types
        </button>
        <button type="button" onClick={() => draw("causal", "What each action needs and changes")}>
          Causal graph
        </button>
        <button type="button" onClick={() => draw("states", "Reachable states")}>
          Reachable states
        </button>
        <button type="button" onClick={() => setOther(texts())}>
          Keep this version
        </button>
        <button type="button" onClick={compare} disabled={!other}>
          Compare with the kept version
        </button>
      </div>
      {error && <Failure text={error} />}
      <label class="plan-text">
        Plan, one step a line
        <textarea
          rows={Math.min(12, Math.max(4, plan.split("\n").length))}
          value={plan}
          spellcheck={false}
          onInput={(event) => {
            setPlan(event.currentTarget.value);
            planNow.current = event.currentTarget.value;
            keep();
          }}
        />
      </label>
      <section aria-live="polite" class="bench-answer">
        {shown && (
          <>
            <h2>{shown.title}</h2>
            {shown.lines.map((line, i) => (
              <p key={i}>{line}</p>
            ))}
            {shown.pictures?.map((svg) => (
              <img key={svg} class="bench-picture" alt={shown.title} src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} />
            ))}
            {shown.steps && <Stepper steps={shown.steps} at={at} choose={setAt} />}
          </>
        )}
      </section>
    </div>
  );
}

/** Room for the fixes is there before they are, so that nothing moves. */
function Fixes({ of, fixes = [] }: { of: string; fixes?: Fix[] }) {
  return (
    <ul class="fixes" aria-label={`Fixes for the ${of}`}>
      {fixes.map((fix) => (
        <li key={`${fix.line} ${fix.title}`}>
          <button type="button" onClick={fix.apply}>
            Line {fix.line}: {fix.title}
          </button>
        </li>
      ))}
    </ul>
  );
}

interface PlanEvent {
  kind: string;
  text?: unknown;
  state?: unknown;
  result?: unknown;
  error?: { message: string; help?: string | null };
}

interface PlanReport {
  outcome: string;
  plans: { steps: string[]; times?: { start: number; duration?: number }[] }[];
  explanation: string[];
}

/** The best plan, a step a line, with times where the task has them. */
function linesOfPlan({ plans: [best] }: PlanReport): string[] | undefined {
  return best?.steps.map((step, i) => {
    const time = best.times?.[i];
    return time ? `${time.start}: ${step}${time.duration === undefined ? "" : ` [${time.duration}]`}` : step;
  });
}

const titleOf = (steps: number): string => (steps === 0 ? "The goal holds at the start: no step is needed" : `A plan of ${steps} ${steps === 1 ? "step" : "steps"}`);

interface Validated {
  decision?: string;
  diagnostics?: { severity: string; message: string; file: string; line: number }[];
  failing?: { number: number; step: string; conditions: string[] };
  missing?: string[];
}

interface Compared {
  decision?: string;
  in_words?: string[];
}

function linesOf({ diagnostics = [], failing, missing = [] }: Validated): string[] {
  return [
    ...diagnostics.map((one) => `${one.severity} in the ${one.file}, line ${one.line}: ${one.message}`),
    ...(failing ? [`Step ${failing.number} ${failing.step} cannot be done: ${failing.conditions.join("; ")}`] : []),
    ...missing,
  ];
}
