// A question of the dialogue: two choices with what follows from each, and the other answers.

import { useState } from "preact/hooks";
import { shortChoice, type Question, type Side } from "./data";

export function QuestionView({ question, answer }: { question: Question; answer(text: string): void }) {
  const [words, setWords] = useState("");
  const sides = question.sides ?? [];
  const number = (choice: string) => String(question.choices.indexOf(choice) + 1);
  // Choices with consequences are the first ones; the last three are the same for every question.
  const isOwnWords = (choice: string) => number(choice) === String(question.own_words);
  const main = question.choices.slice(0, Math.max(sides.length, Math.min(2, question.choices.length)));
  const rest = question.choices.slice(main.length);
  return (
    <section class="question" aria-label="A question about your text">
      <h2>{question.text}</h2>
      <div class="choices">
        {main.map((choice, i) => (
          <button type="button" class="choice" key={choice} onClick={() => answer(number(choice))}>
            <strong>{shortChoice(choice)}</strong>
            {sides[i] && <SideView side={sides[i]} />}
          </button>
        ))}
      </div>
      <div class="other-choices">
        {rest.filter((choice) => !isOwnWords(choice)).map((choice) => (
          <button type="button" key={choice} onClick={() => answer(number(choice))}>
            {choice}
          </button>
        ))}
      </div>
      {(question.choices.length === 0 || rest.some(isOwnWords)) && (
        <form
          class="own-words"
          onSubmit={(event) => {
            event.preventDefault();
            if (words.trim()) answer(words.trim());
          }}
        >
          <label>
            Or say in your own words what is true
            <input value={words} onInput={(event) => setWords(event.currentTarget.value)} />
          </label>
          <button type="submit" disabled={!words.trim()}>
            Answer
          </button>
        </form>
      )}
    </section>
  );
}

function SideView({ side }: { side: Side }) {
  const verdict = side.states === "done" ? (side.holds ? "then the task is done" : "then the task is not done") : side.holds ? "all of this is possible" : "not all of this is possible";
  return (
    <span class="side">
      <ol>
        {side.steps.map((step, i) => (
          <li key={i}>{step}</li>
        ))}
      </ol>
      <span class={side.holds ? "side-yes" : "side-no"}>{verdict}</span>
    </span>
  );
}
