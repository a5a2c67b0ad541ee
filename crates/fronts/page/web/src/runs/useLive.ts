// The events of runs that are at work, and newer report data while they change.

import { useEffect, useRef, useState } from "preact/hooks";
import { openEvents, query } from "../api";
import { emptyLive, takeEvent, type Live, type RunEvent } from "./live";

/** Milliseconds between two drawings of events that arrive quickly. */
const DRAW_EVERY = 100;

/**
 * Follows a stream of events; `null` follows nothing. The component is drawn again after events, at most ten times a second.
 */
export function useLive(stream: string | null): { live: Live; isLost: boolean } {
  const live = useRef<Live>(emptyLive(Date.now()));
  const [, setVersion] = useState(0);
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    if (stream === null) return;
    live.current = emptyLive(Date.now());
    let timer = 0;
    const draw = () => {
      timer = 0;
      setVersion((n) => n + 1);
    };
    const close = openEvents(stream, {
      event: (event: RunEvent) => {
        takeEvent(live.current, event, Date.now());
        timer ||= window.setTimeout(draw, DRAW_EVERY);
      },
      connection: (isOpen: boolean) => setLost(!isOpen),
    });
    return () => {
      close();
      clearTimeout(timer);
    };
  }, [stream]);
  return { live: live.current, isLost };
}

export const watchStream = (path: string): string => `/api/watch${query({ path })}`;
export const jobStream = (job: string): string => `/api/jobs/${encodeURIComponent(job)}/events`;
