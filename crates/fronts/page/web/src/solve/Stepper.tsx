// The states along a plan, one after the other: a scene of objects that are in each other, and what each step changes.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Steps } from "./data";
import { layoutOf, sceneOf, type Thing } from "./scene";
import "./stepper.css";

/** Milliseconds between two steps while the plan plays. */
const PLAY_EVERY = 1200;

export function Stepper({ steps, at, choose }: { steps: Steps; at: number; choose(at: number): void }) {
  const [isPlaying, setPlaying] = useState(false);
  const layout = useMemo(() => layoutOf(steps), [steps]);
  const last = steps.states.length - 1;
  const state = steps.states[Math.min(at, last)];
  useEffect(() => {
    if (!isPlaying) return;
    if (at >= last) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => choose(at + 1), PLAY_EVERY);
    return () => clearTimeout(timer);
  }, [isPlaying, at, last]);
  if (!state) return null;
  const changed = new Set([...state.added, ...state.removed].flatMap((fact) => fact.replace(/[()]/g, " ").trim().split(/\s+/).slice(1)));
  return (
    <section class="stepper" aria-label="The states along the plan">
      <div class="stepper-tools">
        <button type="button" onClick={() => choose(Math.max(0, at - 1))} disabled={at === 0}>
          Back
        </button>
        <button type="button" onClick={() => (at >= last && choose(0), setPlaying(!isPlaying))}>
          {isPlaying ? "Pause" : "Play"}
        </button>
        <button type="button" onClick={() => choose(Math.min(last, at + 1))} disabled={at >= last}>
          Next
        </button>
        <input type="range" min={0} max={last} value={at} aria-label="Step" aria-valuetext={state.step ?? "start"} onInput={(event) => choose(Number(event.currentTarget.value))} />
      </div>
      <p aria-live="polite" class="stepper-now">
        {at === 0 ? "At the start" : `After step ${at} of ${last}: `}
        {state.step && <code>{state.step}</code>}
      </p>
      <div class="scene">
        {sceneOf(state.facts, layout).map((thing) => (
          <ThingView key={thing.name} thing={thing} changed={changed} />
        ))}
      </div>
      {at > 0 && (
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
      )}
    </section>
  );
}

function ThingView({ thing, changed }: { thing: Thing; changed: Set<string> }) {
  return (
    <div class={changed.has(thing.name) ? "thing is-changed" : "thing"}>
      <p class="thing-name">
        <strong>{thing.name}</strong> <span class="note">{[thing.by, ...thing.facts].filter(Boolean).join(", ")}</span>
      </p>
      {thing.inside.length > 0 && (
        <div class="thing-inside">
          {thing.inside.map((one) => (
            <ThingView key={one.name} thing={one} changed={changed} />
          ))}
        </div>
      )}
    </div>
  );
}
