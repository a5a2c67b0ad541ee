// The events of runs that are at work, and newer report data while they change.

import { useEffect, useRef, useState } from "preact/hooks";
import { inWords, openEvents, query } from "../api";
import { emptyLive, takeCounts, takeEvent, type Counts, type Live, type RunEvent } from "./live";

/** Milliseconds between two drawings of events that arrive quickly. */
const DRAW_EVERY = 100;

/**
 * Follows a stream of events; `null` follows nothing. The component is drawn again after events, at most ten times a second.
 */
export function useLive(stream: string | null): { live: Live; isLost: boolean; gone: string | null; take(counts: Counts): void } {
  const live = useRef<Live>(emptyLive());
  const [, setVersion] = useState(0);
  const [isLost, setLost] = useState(false);
  const [gone, setGone] = useState<string | null>(null);
  useEffect(() => {
    if (stream === null) return;
    // The numbers of the record hold for every session of a run.
    live.current = { ...emptyLive(), record: live.current.record };
    setGone(null);
    let timer = 0;
    let drawn = -DRAW_EVERY;
    const draw = () => {
      timer = 0;
      drawn = performance.now();
      setVersion((n) => n + 1);
    };
    const close = openEvents(stream, {
      event: (event: RunEvent) => {
        takeEvent(live.current, event, Date.now());
        // The first event after a quiet time is drawn at once.
        timer ||= window.setTimeout(draw, Math.max(0, drawn + DRAW_EVERY - performance.now()));
      },
      connection: (isOpen: boolean) => setLost(!isOpen),
      gone: (cause) => {
        setLost(false);
        setGone(inWords(cause));
      },
    });
    return () => {
      close();
      clearTimeout(timer);
    };
  }, [stream]);
  const take = (counts: Counts) => {
    takeCounts(live.current, counts);
    setVersion((n) => n + 1);
  };
  return { live: live.current, isLost, gone, take };
}

export const watchStream = (path: string): string => `/api/watch${query({ path })}`;
