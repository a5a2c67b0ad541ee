// The PDDL of an answer in editors that cannot be written in, with the findings of the language server. Loaded when it is opened.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Editors } from "../workbench/editor";
import type { Finding } from "./data";
import { Failure } from "../Failure";

/** Without findings nothing was checked, and nothing is said about mistakes. */
export function PddlView({ domain, problem, findings }: { domain: string; problem: string; findings: Finding[] | null }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => event.currentTarget.open && setOpen(true)}>
      <summary>Domain and problem in PDDL, with findings</summary>
      {isOpen && <Texts domain={domain} problem={problem} findings={findings} />}
    </details>
  );
}

function Texts({ domain, problem, findings }: { domain: string; problem: string; findings: Finding[] | null }) {
  const places = [useRef<HTMLDivElement>(null), useRef<HTMLDivElement>(null)] as const;
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let editors: Editors | null = null;
    let isGone = false;
    const [first, second] = [places[0].current, places[1].current];
    if (!first || !second) return;
    const files = [
      { place: first, name: "domain.pddl", label: "Domain in PDDL", text: domain },
      { place: second, name: "problem.pddl", label: "Problem in PDDL", text: problem },
    ];
    import("../workbench/editor")
      .then(({ makeEditors }) => makeEditors(files, () => {}, setError, { isReadOnly: true }))
      .then(
        (made) => (isGone ? made.close() : (editors = made)),
        () => setError("The editor cannot be loaded. Reload the page."),
      );
    return () => {
      isGone = true;
      editors?.close();
    };
  }, [domain, problem]);
  return (
    <>
      {error && <Failure text={error} />}
      {findings && <p>{findings.length === 0 ? "planforge finds no mistake in them." : `${findings.length} ${findings.length === 1 ? "finding" : "findings"}:`}</p>}
      {findings && findings.length > 0 && (
        <ul class="findings">
          {findings.map((one, i) => (
            <li key={i}>
              <strong>{one.severity}</strong> {one.line ? `${one.file}, line ${one.line}: ` : ""}
              {one.message}
            </li>
          ))}
        </ul>
      )}
      <div class="editors">
        {["Domain", "Problem"].map((title, i) => (
          <section key={title} aria-label={title}>
            <h4>{title}</h4>
            <div class="editor" ref={places[i]} />
          </section>
        ))}
      </div>
    </>
  );
}
