// A task in words, as the server describes it.

import type { Consent } from "../Consents";

export interface Side {
  clause: string;
  steps: string[];
  states: "possible" | "done";
  holds: boolean;
}

export interface Question {
  question: string;
  text: string;
  choices: string[];
  sides?: Side[];
  /** The number of the choice after which the person writes what is true, from 1. */
  own_words?: number;
}

export interface Followed {
  question: string;
  follows: string;
}

export interface Sentence {
  number: number;
  text: string;
}

export interface Part {
  part: string;
  text: string;
  sentences: number[];
  assumed: boolean;
}

export interface SolveResult {
  line: string;
  end: string;
  folder: string;
  domain?: string;
  problem?: string;
  plan?: string[];
  words?: string;
  points: { id: string; question: string; choices: string[]; status: string; answer: string; follows: number }[];
  solvable_if?: string[];
  changes?: string[];
  /** Absent if no reading can be used, or the text is not read to its end. */
  trust?: {
    answers: Followed[];
    decided_by_text: Followed[];
    assumptions: Followed[];
    either_way: Followed[];
    unused_sentences: Sentence[];
    assumed_parts: string[];
    sources: Part[];
    left_out: string[];
    remarks: string[];
  };
}

export interface Steps {
  /** `step` is null at the start, and where the task itself changes facts at a time; `number` is that of the step in the plan, from 1. */
  states: { step: string | null; number?: number; part?: "start" | "end"; time?: number; added: string[]; removed: string[]; facts: string[] }[];
  /** Derived predicates, whose facts no state lists. */
  derived?: string[];
  /** States that a limit left out. */
  left_out: number;
  objects: { name: string; type: string }[];
  gantt?: string;
  diagnostics?: Finding[];
}

export interface Finding {
  severity: string;
  message: string;
  file: string;
  line: number;
}

export interface JobError {
  message: string;
  help?: string | null;
}

/** How far a reading of the text is. `model` is the name of the model table. */
export interface Reading {
  model: string;
  state: "asked" | "arrived" | "read" | "looked-through";
  /** False if it has mistakes that could not be mended. */
  isUsable: boolean | null;
}

/** A job on a task, folded from its events. */
export interface Dialogue {
  state: string;
  /** Questions and decisions in the order in which they came, with the answer that counts. */
  asked: { question?: Question; consent?: Consent; answer: string | boolean | null }[];
  notices: string[];
  /** The readings by their path, in the order in which they were asked for. */
  readings: Map<string, Reading>;
  replies: number;
  requests: Set<string>;
  result: SolveResult | null;
  error: JobError | null;
}

export const emptyDialogue = (): Dialogue => ({ state: "queued", asked: [], notices: [], readings: new Map(), replies: 0, requests: new Set(), result: null, error: null });

interface DialogueEvent {
  kind: string;
  [field: string]: unknown;
}

/** Changes `dialogue` by one event of its job. */
export function takeEvent(dialogue: Dialogue, event: DialogueEvent): void {
  switch (event.kind) {
    case "state":
      dialogue.state = String(event.state);
      break;
    case "question":
      dialogue.asked.push({ question: event as unknown as Question, answer: null });
      break;
    case "consent":
      dialogue.asked.push({ consent: event as unknown as Consent, answer: null });
      break;
    case "answered":
    case "consented":
      for (const one of dialogue.asked) {
        if (event.question !== undefined && one.question?.question === event.question) one.answer = String(event.answer);
        if (event.consent !== undefined && one.consent?.consent === event.consent) one.answer = Boolean(event.allow);
      }
      break;
    case "notice":
      dialogue.notices.push(String(event.text));
      break;
    case "recorded":
      takeRecord(dialogue, event.record as DialogueRecord);
      break;
    case "request":
      if (event.phase === "ended") dialogue.requests.delete(String(event.path));
      else dialogue.requests.add(String(event.path));
      takeReading(dialogue, String(event.path), "asked", String(event.llm ?? ""));
      break;
    case "result":
      dialogue.result = event.result as SolveResult;
      break;
    case "error":
      dialogue.error = event.error as JobError;
      break;
  }
}

interface DialogueRecord {
  event?: string;
  path?: string;
  stage?: string;
  llm?: string;
  decision?: string;
}

function takeRecord(dialogue: Dialogue, { event, path = "", stage, llm = "", decision }: DialogueRecord): void {
  if (event === "completion") {
    dialogue.replies++;
    takeReading(dialogue, path, "arrived", llm);
  }
  if (event === "candidate-made") takeReading(dialogue, path, "read");
  if (event !== "assessed") return;
  const reading = takeReading(dialogue, path, stage === "points" ? "looked-through" : "read");
  if (reading && stage === "pddl") reading.isUsable = decision === "accepted";
}

const READING_STATES: Reading["state"][] = ["asked", "arrived", "read", "looked-through"];

/** Moves a reading on, never back. Paths of other requests are not readings. */
function takeReading({ readings }: Dialogue, path: string, state: Reading["state"], model = ""): Reading | null {
  const name = /^[^/]+\/reading\/\d+/.exec(path)?.[0];
  if (!name) return null;
  const reading = readings.get(name) ?? { model: "", state, isUsable: null };
  if (model) reading.model = model;
  if (READING_STATES.indexOf(state) > READING_STATES.indexOf(reading.state)) reading.state = state;
  readings.set(name, reading);
  return reading;
}

/** The words of a choice without the steps in brackets, which the page shows one by one. */
export const shortChoice = (choice: string): string => choice.replace(/ \[.*\]$/s, "");

/** A step without its time and duration: `(lift baker cake)` of `0.5: (lift baker cake) [3]`. */
export const actionOf = (step: string): string => /\([^()]*\)/.exec(step)?.[0] ?? step.trim();

/** The state after the beginning of a step of the plan, from 0; states.length if the server left it out. */
export function stateOfStep(step: number, states: Steps["states"]): number {
  const found = states.findIndex((state) => state.number === step + 1);
  return found < 0 ? states.length : found;
}

/** The step of the plan, from 0, that a state comes from; null where no step led to it. A step with a duration changes the state twice. */
export function stepOfState(at: number, states: Steps["states"]): number | null {
  const number = states[at]?.number;
  return number === undefined ? null : number - 1;
}

/** The action of a step, its conditions and its effects. */
function partsOfStep(step: string, parts: Part[]): Part[] {
  const action = /^\(?\s*([^\s()]+)/.exec(actionOf(step))?.[1] ?? "";
  return parts.filter((part) => (part.part === "action" && part.text === action) || (["precondition", "effect"].includes(part.part) && part.text.startsWith(`${action}: `)));
}

/** The sentences that the action of a step comes from, with its conditions and effects. */
export function sentencesOfStep(step: string, parts: Part[]): number[] {
  return [...new Set(partsOfStep(step, parts).flatMap((part) => part.sentences))].sort((a, b) => a - b);
}

/** The origin of a step, in words. A part without a sentence is assumed only if its comment says so. */
export function originOfStep(step: string, parts: Part[]): string {
  const from = sentencesOfStep(step, parts);
  if (from.length) return `From ${from.length > 1 ? "sentences" : "sentence"} ${from.join(", ")}.`;
  return partsOfStep(step, parts).some((part) => part.assumed) ? "From no sentence: it is assumed." : "The model did not say from which sentence.";
}

/** The plan in words, one text a step: `3. lift ...` without its number. A step with a duration has a line for its start and one for its end. */
export function wordsOfSteps(words: string): string[] {
  const steps: string[] = [];
  for (const [, number, line = ""] of words.matchAll(/^(\d+)\. (.*)$/gm)) {
    const at = Number(number) - 1;
    steps[at] = steps[at] === undefined ? line : `${steps[at]} ${line[0]?.toUpperCase()}${line.slice(1)}`;
  }
  return steps;
}

/** True for the row of a map: at most half of its characters are letters. */
export const isMapRow = (sentence: string): boolean => {
  const letters = sentence.match(/\p{L}/gu)?.length ?? 0;
  return letters * 2 <= sentence.replace(/\s/g, "").length;
};
