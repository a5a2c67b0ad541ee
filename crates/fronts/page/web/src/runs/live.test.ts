import { expect, test } from "vitest";
import { countsNow, emptyLive, secondsLeft, stageCounts, takeCounts, takeEvent } from "./live";

const recorded = (record: object) => ({ kind: "recorded", run: "r", record });
const request = (phase: string) => ({ kind: "request", run: "r", llm: "main", path: "t.p1/s/-/0/0", phase });

test("a task moves through its stages and is counted once it ends", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "run-started", run: "r", title: "", tasks: 2 }, 0);
  takeEvent(live, recorded({ event: "stage-started", task: "t.p1", stage: "plan" }), 1);
  takeEvent(live, recorded({ event: "stage-started", task: "t.p2", stage: "plan" }), 1);
  expect(stageCounts(live)).toEqual([["plan", 2]]);
  takeEvent(live, recorded({ event: "task-finished", task: "t.p1", verdict: { verdict: "rejected" } }), 2);
  takeEvent(live, recorded({ event: "task-finished", task: "t.p2", verdict: { verdict: "accepted" } }), 2);
  const { total, ended, solved } = countsNow(live);
  expect([total, ended, solved, live.stages.size]).toEqual([2, 2, 1, 0]);
});

test("a request is out until it ends, and keeps the time at which its phase began", () => {
  const live = emptyLive();
  takeEvent(live, request("sent"), 10);
  takeEvent(live, request("sent"), 20);
  expect([...live.requests.values()].map((one) => one.since)).toEqual([10]);
  takeEvent(live, request("backing-off"), 30);
  expect([...live.requests.values()].map((one) => [one.phase, one.since])).toEqual([["backing-off", 30]]);
  takeEvent(live, request("ended"), 40);
  expect(live.requests.size).toBe(0);
});

test("the server's sum replaces the page's own sum of the cost", () => {
  const live = emptyLive();
  takeEvent(live, recorded({ event: "completion", usage: { prompt_tokens: 3, completion_tokens: 4 } }), 1);
  expect(live.cost).toEqual({ requests: 1, tokens: 7 });
  takeEvent(live, { kind: "cost", requests: 9, tokens: 90, money: 0.5 }, 2);
  takeEvent(live, recorded({ event: "completion", usage: { prompt_tokens: 3 } }), 3);
  expect([live.cost.requests, live.cost.tokens, live.cost.money]).toEqual([9, 90, 0.5]);
});

test("a resumed evaluation adds what it costs now to what its record has cost", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "cost", requests: 1, tokens: 10, money: 0.25 }, 1);
  takeCounts(live, { total: 2, ended: 1, solved: 0, requests: 3, tokens: 30, money: 0.75 });
  takeEvent(live, { kind: "cost", requests: 2, tokens: 20, money: 0.5 }, 2);
  expect([countsNow(live).requests, countsNow(live).money]).toEqual([4, 1]);
  takeCounts(live, { total: 2, ended: 1, solved: 0, requests: 4, tokens: 40 });
  expect(countsNow(live).money).toBeUndefined();
  takeCounts(live, { total: 2, ended: 1, solved: 0, requests: 4, tokens: 40, money: 1 });
  takeEvent(live, { kind: "cost", requests: 3, tokens: 30 }, 3);
  expect(countsNow(live).money).toBeUndefined();
});

const ended = (task: number, ms: number) => ({ ...recorded({ event: "task-finished", task: `t.p${task}`, verdict: { verdict: "accepted" } }), ms });
const counts = { total: 100, ended: 0, solved: 0, requests: 0, tokens: 0 };

test("the time left comes from the server's times, so that a reload gives the same estimate", () => {
  const events = [{ kind: "run-started", run: "r", tasks: 10, ms: 0 }, ended(1, 10_000), ended(2, 20_000), ended(3, 30_000), ended(4, 42_000)];
  const [slow, reloaded] = [emptyLive(), emptyLive()];
  for (const event of events) {
    takeEvent(slow, event, event.ms);
    takeEvent(reloaded, event, 90_001);
  }
  // Other events have no time.
  takeEvent(reloaded, { kind: "cost", requests: 4, tokens: 40 }, 90_050);
  expect(secondsLeft(slow)).toBe(60);
  expect(secondsLeft(reloaded)).toBe(60);
});

test("a log that counts anew, because nobody watched, begins a new pace", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "run-started", run: "r", tasks: 10, ms: 60_000 }, 0);
  for (const task of [1, 2, 3]) takeEvent(live, ended(task, 60_000 + task * 3000), 0);
  takeEvent(live, { kind: "run-started", run: "r", tasks: 0, ms: 0 }, 0);
  expect(secondsLeft(live)).toBeNull();
  for (const task of [4, 5, 6]) takeEvent(live, ended(task, task * 1000), 0);
  expect(secondsLeft(live)).toBe((4 / 3) * 4);
});

test("there is no estimate before three tasks have ended at the pace of this session", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "run-started", run: "r", tasks: 10, ms: 0 }, 0);
  for (const task of [1, 2, 3, 4]) takeEvent(live, ended(task, 5), 5);
  takeEvent(live, ended(5, 8000), 8000);
  expect(secondsLeft(live)).toBeNull();
  takeEvent(live, ended(6, 14_000), 14_000);
  takeEvent(live, ended(7, 20_000), 20_000);
  expect(secondsLeft(live)).toBe(18);
});

test("a resumed run counts what ended before, and cells that have not begun are still to do", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "run-started", run: "r", tasks: 50, ms: 0 }, 0);
  for (const task of [1, 2, 3]) takeEvent(live, ended(task, task * 2000), 0);
  takeCounts(live, { ...counts, ended: 43, solved: 13, requests: 90, tokens: 900 });
  takeEvent(live, ended(4, 8000), 0);
  const now = countsNow(live);
  expect([now.total, now.ended, now.solved, now.requests]).toEqual([100, 44, 14, 90]);
  expect(secondsLeft(live)).toBe((6 / 4) * 56);
});

test("a task that is recorded twice is counted once", () => {
  const live = emptyLive();
  takeEvent(live, ended(1, 0), 0);
  takeEvent(live, ended(1, 1), 0);
  expect(countsNow(live).ended).toBe(1);
});

test("events that are lost are counted, and the numbers come from the record", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "lost", events: 700 }, 0);
  takeEvent(live, ended(99, 60_000), 0);
  takeCounts(live, { ...counts, ended: 61, solved: 30 });
  expect([live.lost, countsNow(live).ended, countsNow(live).solved]).toEqual([700, 61, 30]);
});

test("a decision waits until it is taken, in this tab or in another one", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "consent", consent: "c1", text: "Start it?" }, 0);
  expect(live.decisions).toEqual([{ consent: "c1", text: "Start it?", allowed: null }]);
  takeEvent(live, { kind: "consented", consent: "c1", allow: false }, 0);
  expect(live.decisions[0]?.allowed).toBe(false);
});

test("the caps of runs add up, and one run without a cap leaves the sum without a bound", () => {
  const live = emptyLive();
  takeEvent(live, { kind: "run-started", run: "1", tasks: 1, caps: { calls: 50, money: 2 } }, 0);
  expect(live.caps).toEqual({ calls: 50, money: 2 });
  takeEvent(live, { kind: "run-started", run: "2", tasks: 1, caps: { calls: 10 } }, 0);
  expect(live.caps).toEqual({ calls: 60 });
});
