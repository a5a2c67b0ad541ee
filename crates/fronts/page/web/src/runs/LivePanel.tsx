// The work that a run or an evaluation does now.

import { useEffect, useState } from "preact/hooks";
import { countsNow, secondsLeft, stageCounts, type Live } from "./live";
import { duration, figure, money } from "./words";
import { Failure } from "../Failure";

const PHASES = { queued: "waits for its turn", held: "waits for a limit", sent: "sent", "backing-off": "waits to be sent again" };
const MOST_REQUESTS = 12;

export function LivePanel({ live, isLost, gone }: { live: Live; isLost: boolean; gone: string | null }) {
  const now = useSecond(live.requests.size > 0);
  const left = secondsLeft(live);
  const { total, ended, solved } = countsNow(live);
  const requests = [...live.requests.values()].sort((a, b) => a.since - b.since);
  return (
    <section class="live" aria-label="At work now">
      {gone && <Failure text={gone} />}
      {isLost && (
        <p class="live-lost" role="status">
          The connection to planforge is lost. This page connects again by itself; the run goes on.
        </p>
      )}
      {live.lost > 0 && <p class="note">{figure(live.lost)} older events are no longer kept. The numbers below come from the record, which has all of them.</p>}
      <dl class="live-facts">
        <div>
          <dt>Tasks</dt>
          <dd>
            {figure(ended)} of {total ? figure(total) : "?"} ended, {figure(solved)} solved
            {total > 0 && <progress max={total} value={ended} aria-label="Tasks that ended" />}
          </dd>
        </div>
        <div>
          <dt>Stages</dt>
          <dd>{stageCounts(live).map(([stage, n]) => `${stage}: ${figure(n)}`).join(", ") || "none"}</dd>
        </div>
        <div>
          <dt>Cost so far</dt>
          <dd>
            <Spent live={live} />
          </dd>
        </div>
        <div>
          <dt>Time left</dt>
          <dd title="From the tasks that ended since this work began. Tasks may differ.">{left === null ? "no estimate yet" : `about ${duration(left)}`}</dd>
        </div>
      </dl>
      <details class="live-requests" open={requests.length > 0}>
        <summary>Requests to models that are out: {figure(requests.length)}</summary>
        <ul>
          {requests.slice(0, MOST_REQUESTS).map((one) => (
            <li key={`${one.run} ${one.path}`}>
              <code>{one.path}</code> <span>{one.llm}</span> <span>{PHASES[one.phase]}</span> <span class="live-time">{duration((now - one.since) / 1000)}</span>
            </li>
          ))}
          {requests.length > MOST_REQUESTS && <li>and {figure(requests.length - MOST_REQUESTS)} more</li>}
        </ul>
      </details>
    </section>
  );
}

function Spent({ live }: { live: Live }) {
  const { requests, tokens, money: spent } = countsNow(live);
  const caps = live.caps ?? {};
  const of = (n: number | undefined) => (n === undefined ? "" : ` of at most ${figure(n)}`);
  return (
    <>
      {figure(requests)}
      {of(caps.calls)} requests, {figure(tokens)}
      {of(caps.tokens)} tokens
      {spent !== undefined && `, ${money(spent)}`}
      {caps.money !== undefined && ` of at most ${money(caps.money)}`}
    </>
  );
}

/** The time, again each second while `isRunning`. */
function useSecond(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return Math.max(now, Date.now() - 1000);
}
