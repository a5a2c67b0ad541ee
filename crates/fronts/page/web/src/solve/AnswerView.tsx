// The answer to a task: the first line, the plan in words, what it rests on, the states along it, and the PDDL.

import { useEffect, useState } from "preact/hooks";
import { get, inWords, post, query } from "../api";
import { isMapRow, originOfStep, sentencesOfStep, shortChoice, stateOfStep, stepOfState, wordsOfSteps, type Followed, type Sentence, type SolveResult, type Steps } from "./data";
import { PddlView } from "./PddlView";
import { Stepper } from "./Stepper";
import { Failure } from "../Failure";

/** An answer after which the work can go on. */
const CAN_GO_ON = ["unfinished", "needs-answers", "failed", "no-plan-found"];

/** `say` corrects the task, or goes on with it if it gets no words. */
export function AnswerView({ result, before, say }: { result: SolveResult; before: SolveResult | null; say(words?: string): void }) {
  const [sentences, setSentences] = useState<Sentence[]>([]);
  const [steps, setSteps] = useState<Steps | null>(null);
  const [at, setAt] = useState(0);
  const [step, setStep] = useState<number | null>(null);
  const [words, setWords] = useState("");
  const [missing, setMissing] = useState<string | null>(null);
  const { trust } = result;

  useEffect(() => {
    get<{ sentences: Sentence[] }>(`/api/solve/text${query({ path: result.folder })}`).then((found) => setSentences(found?.sentences ?? []), (cause) => setMissing(`The sentences of the text cannot be shown: ${inWords(cause)}`));
  }, [result]);
  useEffect(() => {
    setSteps(null);
    setAt(0);
    setStep(null);
    if (!result.domain || !result.problem || !result.plan?.length) return;
    const texts = { domain: result.domain, problem: result.problem, plan: result.plan.join("\n") };
    post<Steps>("/api/pddl/steps", texts).then(setSteps, (cause) => setMissing(`The states along the plan cannot be shown: ${inWords(cause)}`));
  }, [result]);

  const plan = result.plan ?? [];
  const states = steps?.states ?? [];
  const chooseStep = (i: number) => {
    setStep(i);
    setAt(stateOfStep(i, states));
  };
  const chooseState = (state: number) => {
    setStep(stepOfState(state, states));
    setAt(state);
  };
  const told = wordsOfSteps(result.words ?? "");
  const sources = trust?.sources ?? [];
  const marked = new Set(step === null ? [] : sentencesOfStep(plan[step] ?? "", sources));
  const unused = new Set(trust?.unused_sentences.map((one) => one.number));
  return (
    <div class="answer">
      <h2>Answer</h2>
      <p class="answer-line">{result.line}</p>
      {before && <Changes before={before} after={result} />}
      {!before && (result.changes ?? []).length > 0 && (
        <section aria-label="What the newest words of the author changed">
          <h3>What the newest words of the author changed</h3>
          <ul>
            {result.changes?.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      )}
      {missing && <Failure text={missing} />}
      <div class="answer-parts">
        {plan.length > 0 && (
          <section>
            <h3>The plan</h3>
            <ol class="plan">
              {plan.map((text, i) => (
                <li key={i}>
                  <button type="button" aria-current={step === i ? "step" : undefined} onClick={() => chooseStep(i)}>
                    {told[i] ?? text}
                    <span class="note">{` ${originOfStep(text, sources)}`}</span>
                  </button>
                </li>
              ))}
            </ol>
          </section>
        )}
        <div>
          {steps && steps.states.length > 1 && <Stepper steps={steps} at={at} choose={chooseState} />}
          {sentences.length > 0 && (
            <section>
              <h3>Your text</h3>
              <ol class="sentences">
                {sentences.map((one) => (
                  <li key={one.number} value={one.number} class={marked.has(one.number) ? "is-marked" : unused.has(one.number) ? "is-unused" : undefined}>
                    {isMapRow(one.text) ? <span class="drawing">{one.text}</span> : one.text}
                    {unused.has(one.number) && <span class="note"> (not used)</span>}
                  </li>
                ))}
              </ol>
            </section>
          )}
        </div>
      </div>
      {trust ? <Rest trust={trust} /> : <p class="note">There is nothing yet that an answer could rest on.</p>}
      {(result.points ?? []).some((point) => point.status === "open") && (
        <section>
          <h3>Open questions</h3>
          <ul>
            {result.points.filter((point) => point.status === "open").map((point) => (
              <li key={point.id}>{point.question}</li>
            ))}
          </ul>
        </section>
      )}
      {(result.solvable_if ?? []).map((line) => (
        <p key={line}>There would be a plan if: {line}</p>
      ))}
      {CAN_GO_ON.includes(result.end) && (
        <button type="button" onClick={() => say()} title="Questions are asked in the page. Replies that have arrived are not paid for again.">
          Continue
        </button>
      )}
      <form
        class="own-words"
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim()) say(words.trim());
          setWords("");
        }}
      >
        <label>
          Something is not right? Say it in words
          <input value={words} placeholder="The robot can't open doors" onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <button type="submit" disabled={!words.trim()}>
          Correct it
        </button>
      </form>
      {result.domain && result.problem && <PddlView domain={result.domain} problem={result.problem} findings={steps?.diagnostics ?? null} />}
    </div>
  );
}

function Rest({ trust }: { trust: NonNullable<SolveResult["trust"]> }) {
  return (
    <section>
      <h3>What it rests on</h3>
      {[trust.answers, trust.assumptions, trust.decided_by_text, trust.either_way, trust.assumed_parts, trust.remarks, trust.left_out].every((list) => !list.length) && <p>On your text alone: nothing was asked, and nothing is assumed.</p>}
      <Rests title="Your answers" list={trust.answers} />
      <Rests title="Assumed, because no answer decides it" list={trust.assumptions} isAssumed />
      <Rests title="Decided by your text" list={trust.decided_by_text} />
      <Rests title="The same plan is right either way" list={trust.either_way} />
      {trust.assumed_parts.length > 0 && (
        <details>
          <summary>{trust.assumed_parts.length} parts come from no sentence</summary>
          <ul>
            {trust.assumed_parts.map((part) => (
              <li key={part}>
                <code>{part}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {[...trust.remarks, ...trust.left_out].map((line) => (
        <p key={line}>{line}</p>
      ))}
    </section>
  );
}

function Rests({ title, list, isAssumed }: { title: string; list: Followed[]; isAssumed?: boolean }) {
  if (!list.length) return null;
  return (
    <>
      <h4>{title}</h4>
      <ul class={isAssumed ? "is-assumed" : undefined}>
        {list.map((one) => (
          <li key={one.question}>
            {one.question} <strong>{shortChoice(one.follows)}</strong>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The changes by a correction in the plan and in what it rests on. */
function Changes({ before, after }: { before: SolveResult; after: SolveResult }) {
  const lines = (result: SolveResult) => [...(result.plan ?? []), ...(result.trust?.sources ?? []).map((part) => `${part.part}: ${part.text}`)];
  const [old, now] = [new Set(lines(before)), new Set(lines(after))];
  const added = [...now].filter((line) => !old.has(line));
  const removed = [...old].filter((line) => !now.has(line));
  return (
    <section class="changes-of-correction" aria-label="What your correction changed">
      <h3>What your correction changed</h3>
      {added.length + removed.length === 0 && <p>Nothing in the plan and its parts.</p>}
      <ul>
        {removed.map((line) => (
          <li key={line} class="is-removed">
            removed: <code>{line}</code>
          </li>
        ))}
        {added.map((line) => (
          <li key={line} class="is-added">
            new: <code>{line}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}
