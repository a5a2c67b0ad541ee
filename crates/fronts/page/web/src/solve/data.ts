// A task in words, as the server describes it.

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
}

export interface Consent {
  consent: string;
  text: string;
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
  trust: {
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
  states: { step: string | null; time?: number; added: string[]; removed: string[]; facts: string[] }[];
  objects: { name: string; type: string }[];
  gantt?: string;
}

export interface JobError {
  message: string;
  help?: string | null;
}

/** A job on a task, folded from its events. */
export interface Dialogue {
  state: string;
  /** Questions and decisions in the order in which they came, with the answer that counts. */
  asked: { question?: Question; consent?: Consent; answer: string | boolean | null }[];
  notices: string[];
  readings: number;
  replies: number;
  requests: Set<string>;
  result: SolveResult | null;
  error: JobError | null;
}

export const emptyDialogue = (): Dialogue => ({ state: "queued", asked: [], notices: [], readings: 0, replies: 0, requests: new Set(), result: null, error: null });

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
    case "recorded": {
      const record = event.record as { event?: string; path?: string };
      if (record.event === "candidate-made") dialogue.readings++;
      if (record.event === "completion") dialogue.replies++;
      break;
    }
    case "request":
      if (event.phase === "ended") dialogue.requests.delete(String(event.path));
      else dialogue.requests.add(String(event.path));
      break;
    case "result":
      dialogue.result = event.result as SolveResult;
      break;
    case "error":
      dialogue.error = event.error as JobError;
      break;
  }
}

/** The words of a choice without the steps in brackets, which the page shows one by one. */
export const shortChoice = (choice: string): string => choice.replace(/ \[.*\]$/s, "");

/** The action of a step, its conditions and its effects. */
function partsOfStep(step: string, parts: Part[]): Part[] {
  const action = /^\(?\s*([^\s()]+)/.exec(step)?.[1] ?? "";
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

/** The plan in words, one text a step: `3. lift ...` without its number. */
export function wordsOfSteps(words: string): string[] {
  return [...words.matchAll(/^\d+\. (.*)$/gm)].map((found) => found[1] ?? "");
}
