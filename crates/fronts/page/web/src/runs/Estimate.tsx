// An estimate of what a run or an evaluation sends at most, before it is started.

import { useState } from "preact/hooks";
import { inWords, post } from "../api";

/** `request` is that of the job. The estimate is of the request when it was asked for: a key of the component should change with it. */
export function Estimate({ use, request, isReady }: { use: "run" | "evaluate"; request: object; isReady: boolean }) {
  const [words, setWords] = useState<string | null>(null);
  const ask = async () => {
    setWords("Counting the requests…");
    try {
      const { answer } = await post<{ answer: string }>("/api/estimate", { use, request });
      setWords(answer);
    } catch (cause) {
      setWords(`There is no estimate: ${inWords(cause)}`);
    }
  };
  return (
    <div class="estimate">
      <button type="button" onClick={ask} disabled={!isReady}>
        What does it cost?
      </button>
      <p role="status">{words}</p>
    </div>
  );
}
