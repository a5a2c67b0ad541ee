import { expect, test } from "vitest";
import { textWithMap } from "./TextForm";
import { emptyDialogue, isMapRow, originOfStep, sentencesOfStep, shortChoice, stateOfStep, stepOfState, takeEvent, wordsOfSteps } from "./data";

test("the answer that counts stands with its question, also when another tab gave it", () => {
  const dialogue = emptyDialogue();
  takeEvent(dialogue, { kind: "question", question: "q1", text: "Two at once?", choices: ["yes", "no"] });
  takeEvent(dialogue, { kind: "consent", consent: "c2", text: "Connect?" });
  takeEvent(dialogue, { kind: "answered", question: "q1", answer: "2" });
  expect(dialogue.asked.map((one) => one.answer)).toEqual(["2", null]);
  takeEvent(dialogue, { kind: "consented", consent: "c2", allow: false });
  expect(dialogue.asked.map((one) => one.answer)).toEqual(["2", false]);
});

test("a step rests on the sentences of its action, of its conditions and of its effects", () => {
  const part = (kind: string, text: string, ...sentences: number[]) => ({ part: kind, text, sentences, assumed: false });
  const parts = [part("action", "lift", 7), part("precondition", "lift: (at ?p ?r)", 7, 4), part("effect", "lifted: (x)", 9), part("action", "walk", 3)];
  expect(sentencesOfStep("(lift baker cake)", parts)).toEqual([4, 7]);
});

test("a step without sentences is called assumed only if the reading says so", () => {
  const lift = { part: "action", text: "lift", sentences: [], assumed: false };
  expect(originOfStep("(lift cake)", [lift])).toBe("The model did not say from which sentence.");
  expect(originOfStep("(lift cake)", [{ ...lift, assumed: true }])).toBe("From no sentence: it is assumed.");
  expect(originOfStep("(lift cake)", [{ ...lift, sentences: [2, 3] }])).toBe("From sentences 2, 3.");
});

test("steps in words lose their numbers, and choices their steps", () => {
  expect(wordsOfSteps("The plan is valid.\n1. walk a b: at b.\n2. lift c: holds.\n")).toEqual(["walk a b: at b.", "lift c: holds."]);
  expect(shortChoice("no: only one [not possible after walk (a)]")).toBe("no: only one");
});

test("the two lines of a step with a duration stand at its number", () => {
  const words = "Valid.\n1. at 0 a starts: x.\n1. at 10 a ends: y.\n3. at 10.001 c starts: z.\n2. at 20 b starts: u.\n3. at 70 c ends: v.\n";
  expect(wordsOfSteps(words)).toEqual(["at 0 a starts: x. At 10 a ends: y.", "at 20 b starts: u.", "at 10.001 c starts: z. At 70 c ends: v."]);
});

test("rows of a map are told from sentences", () => {
  expect(["#R.G#", "#####", "R . . G"].map(isMapRow)).toEqual([true, true, true]);
  expect(["A square with # is a wall.", "Map:", "机器人走到终点。"].map(isMapRow)).toEqual([false, false, false]);
});

test("readings are listed one by one, each with how far it is", () => {
  const dialogue = emptyDialogue();
  const recorded = (record: object) => takeEvent(dialogue, { kind: "recorded", record });
  takeEvent(dialogue, { kind: "request", path: "t.task/reading/0/0/0", llm: "main", phase: "sent" });
  takeEvent(dialogue, { kind: "request", path: "t.task/reading/1/0/0", llm: "other", phase: "sent" });
  recorded({ event: "completion", path: "t.task/reading/1/0/0", llm: "other" });
  recorded({ event: "candidate-made", path: "t.task/reading/1" });
  recorded({ event: "completion", path: "t.task/points/1/0/0", llm: "other" });
  recorded({ event: "assessed", stage: "pddl", path: "t.task/reading/1", decision: "rejected" });
  recorded({ event: "assessed", stage: "points", path: "t.task/reading/1", decision: "accepted" });
  takeEvent(dialogue, { kind: "request", path: "t.task/reading/1/0/0", llm: "other", phase: "ended" });
  expect([...dialogue.readings.values()]).toEqual([
    { model: "main", state: "asked", isUsable: null },
    { model: "other", state: "looked-through", isUsable: false },
  ]);
});

const state = (number?: number) => ({ step: number === undefined ? null : "(bake loaf)", number, added: [], removed: [], facts: [] });

test("a step with a time has its origin, and leads to the state in which it begins", () => {
  const part = { part: "action", text: "bake", sentences: [4], assumed: false };
  expect(sentencesOfStep("8.001: (bake loaf2) [25]", [part])).toEqual([4]);
  // Step 1 lasts over all others; the task changes facts once.
  const states = [1, 2, undefined, 2, 3, 3, 1].map(state);
  states.unshift(state());
  expect([0, 1, 2].map((step) => stateOfStep(step, states))).toEqual([1, 2, 5]);
  expect(states.map((_, i) => stepOfState(i, states))).toEqual([null, 0, 1, null, 1, 2, 2, 0]);
});

test("a step whose state was left out leads to no earlier state", () => {
  const states = [state(), state(1), state(2)];
  expect([0, 1, 2, 3].map((step) => stateOfStep(step, states))).toEqual([1, 2, 3, 3]);
});

test("a drawing stands below the text with its spaces, and an empty one changes nothing", () => {
  expect(textWithMap("Walls are #.\n", "\n#####\r\n #..  \n\n")).toBe("Walls are #.\n\nMap:\n\n#####\n #..\n");
  expect(textWithMap("Walls are #.\n", " \n")).toBe("Walls are #.\n");
});
