// Decisions about this machine that work waits for, with the words of the terminal.

import { useState } from "preact/hooks";
import { ApiError, inWords, post } from "./api";
import { Failure } from "./Failure";

export interface Consent {
  consent: string;
  text: string;
}

export function ConsentView({ consent, decide }: { consent: Consent; decide(allow: boolean): void }) {
  return (
    <section class="question" aria-label="A decision about your machine">
      <h2>{consent.text}</h2>
      <div class="other-choices">
        <button type="button" onClick={() => decide(true)}>
          Allow
        </button>
        <button type="button" onClick={() => decide(false)}>
          Do not allow
        </button>
      </div>
    </section>
  );
}

/** The open decisions of a job. The answer that counts arrives as an event, also if another tab was first. */
export function Consents({ job, open }: { job: string; open: Consent[] }) {
  const [error, setError] = useState<string | null>(null);
  const decide = async (consent: string, allow: boolean) => {
    setError(null);
    try {
      await post(`/api/jobs/${encodeURIComponent(job)}/consent`, { consent, allow });
    } catch (cause) {
      if (!(cause instanceof ApiError && cause.code === "page.answered")) setError(inWords(cause));
    }
  };
  return (
    <>
      {error && <Failure text={error} />}
      {open.map((one) => (
        <ConsentView key={one.consent} consent={one} decide={(allow) => decide(one.consent, allow)} />
      ))}
    </>
  );
}
