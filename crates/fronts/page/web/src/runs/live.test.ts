import { expect, test } from "vitest";
import { emptyLive, secondsLeft, stageCounts, takeEvent } from "./live";

const recorded = (record: object) => ({ kind: "recorded", run: "r", record });
const request = (phase: string) => ({ kind: "request", run: "r", llm: "main", path: "t.p1/s/-/0/0", phase });

test("a task moves through its stages and is counted once it ends", () => {
  const live = emptyLive(0);
  takeEvent(live, { kind: "run-started", run: "r", title: "", tasks: 2 }, 0);
  takeEvent(live, recorded({ event: "stage-started", task: "t.p1", stage: "plan" }), 1);
  takeEvent(live, recorded({ event: "stage-started", task: "t.p2", stage: "plan" }), 1);
  expect(stageCounts(live)).toEqual([["plan", 2]]);
  takeEvent(live, recorded({ event: "task-finished", task: "t.p1", verdict: { verdict: "rejected" } }), 2);
  takeEvent(live, recorded({ event: "task-finished", task: "t.p2", verdict: { verdict: "accepted" } }), 2);
  expect([live.finished, live.solved, live.stages.size]).toEqual([2, 1, 0]);
});

test("a request is out until it ends, and keeps the time at which its phase began", () => {
  const live = emptyLive(0);
  takeEvent(live, request("sent"), 10);
  takeEvent(live, request("sent"), 20);
  expect([...live.requests.values()].map((one) => one.since)).toEqual([10]);
  takeEvent(live, request("backing-off"), 30);
  expect([...live.requests.values()].map((one) => [one.phase, one.since])).toEqual([["backing-off", 30]]);
  takeEvent(live, request("ended"), 40);
  expect(live.requests.size).toBe(0);
});

test("the server's sum replaces the page's own sum of the cost", () => {
  const live = emptyLive(0);
  takeEvent(live, recorded({ event: "completion", usage: { prompt_tokens: 3, completion_tokens: 4 } }), 1);
  expect(live.cost).toEqual({ requests: 1, tokens: 7 });
  takeEvent(live, { kind: "cost", requests: 9, tokens: 90, money: 0.5 }, 2);
  takeEvent(live, recorded({ event: "completion", usage: { prompt_tokens: 3 } }), 3);
  expect([live.cost.requests, live.cost.tokens, live.cost.money]).toEqual([9, 90, 0.5]);
});

test("there is no estimate before three tasks have ended", () => {
  const live = emptyLive(0);
  live.total = 10;
  live.finished = 2;
  expect(secondsLeft(live, 4000)).toBeNull();
  live.finished = 4;
  expect(secondsLeft(live, 4000)).toBe(6);
});
