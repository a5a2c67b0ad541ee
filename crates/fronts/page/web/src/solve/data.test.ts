import { expect, test } from "vitest";
import { emptyDialogue, originOfStep, sentencesOfStep, shortChoice, takeEvent, wordsOfSteps } from "./data";

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
