// The states along a plan, one after the other: a picture of the objects, and what each step changes.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Steps } from "./data";
import { drawingOf } from "./picture";
import { PictureView } from "./PictureView";
import "./stepper.css";

/** Milliseconds between two steps while the plan plays. */
const PLAY_EVERY = 1200;

/** What led to a state, in a few words. */
function changeOf({ step, part }: Steps["states"][number]): string {
  if (step === null) return "the task changes facts at this time";
  return part ? `${part} of ${step}` : step;
}

/** `at` is the number of a state; a larger one than the last is a state that the server left out. */
export function Stepper({ steps, at, choose }: { steps: Steps; at: number; choose(at: number): void }) {
  const [isPlaying, setPlaying] = useState(false);
  const drawing = useMemo(() => drawingOf(steps), [steps]);
  const last = steps.states.length - 1;
  const state = steps.states[at];
  useEffect(() => {
    if (!isPlaying) return;
    if (at >= last) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => choose(at + 1), PLAY_EVERY);
    return () => clearTimeout(timer);
  }, [isPlaying, at, last]);
  // A step with a duration changes the state at its start and at its end, and the task may change facts by itself.
  const now = at === 0 ? "At the start" : `After ${state?.time === undefined ? "step" : "change"} ${at} of ${last}`;
  const what = at > 0 && state ? changeOf(state) : "";
  return (
    <section class="stepper" aria-label="The states along the plan">
      <div class="stepper-tools">
        <button type="button" onClick={() => choose(Math.max(0, Math.min(last, at - 1)))} disabled={at === 0}>
          Back
        </button>
        <button type="button" onClick={() => (at >= last && choose(0), setPlaying(!isPlaying))}>
          {isPlaying ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => choose(Math.min(last, at + 1))} disabled={at >= last}>
          Next
        </button>
        <input type="range" min={0} max={last} value={at} aria-label="Step" aria-valuetext={what || "start"} onInput={(event) => choose(Number(event.currentTarget.value))} />
      </div>
      {steps.left_out > 0 && <p class="note">This plan is long: the last {steps.left_out} states are not shown.</p>}
      {!state && (
        <p role="status" class="stepper-now">
          The state after this step is not shown.
        </p>
      )}
      {state && (
        <>
          <p aria-live="polite" class="stepper-now">
            {now}
            {state.time !== undefined && `, at time ${state.time}`}
            {what && ": "}
            {state.step ? <code>{what}</code> : what}
          </p>
          <PictureView drawing={drawing} at={at} title={`${now}. The changes and all facts stand below in words.`} />
          {(drawing.pictures[at]?.loose.length ?? 0) > 0 && (
            <p class="changes">
              {drawing.pictures[at]?.loose.map((line) => (
                <span key={line.text} class={line.isChanged ? "is-added" : undefined}>
                  true: <code>{line.text}</code>
                </span>
              ))}
            </p>
          )}
          {drawing.map && (
            <p class="note">
              A line between two places: <code>{drawing.map.relation}</code>.
            </p>
          )}
          {drawing.notDrawn.length > 0 && <p class="note">Not drawn, because there are many and no step changes them: {drawing.notDrawn.map(([name, n]) => `${name} (${n})`).join(", ")}.</p>}
          {drawing.leftOut > 0 && <p class="note">{drawing.leftOut} further objects are not drawn. The list of facts has them.</p>}
          <p class="changes">
            {state.added.map((fact) => (
              <span key={fact} class="is-added">
                now true: <code>{fact}</code>
              </span>
            ))}
            {state.removed.map((fact) => (
              <span key={fact} class="is-removed">
                no longer true: <code>{fact}</code>
              </span>
            ))}
          </p>
          <details>
            <summary>{steps.derived ? `${state.facts.length} facts of this state` : `All ${state.facts.length} facts of this state`}</summary>
            {steps.derived && <p class="note">Facts that follow from others by a rule of the domain are not listed: {steps.derived.join(", ")}.</p>}
            <ul class="facts">
              {state.facts.map((fact) => (
                <li key={fact}>
                  <code>{fact}</code>
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
      {steps.gantt && (
        <div class="gantt" tabIndex={0} role="group" aria-label="Chart of the steps over time">
          <img alt="Chart of the steps over time" src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(steps.gantt)}`} />
        </div>
      )}
    </section>
  );
}
