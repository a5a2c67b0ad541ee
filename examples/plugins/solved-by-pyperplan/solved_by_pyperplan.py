"""A verifier around an existing tool: accepts a candidate if the planner pyperplan solves it.

pyperplan (https://github.com/aibasel/pyperplan, `pip install pyperplan`) plans for typed STRIPS. Its parser and grounder are
independent of planforge's, so it is a second opinion on the PDDL of a candidate.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planforge_plugin import Failure, Verifier, accepted, not_comparable, rejected, run, undecided

NOTHING = "No solution could be found"
# The exceptions by which it refuses PDDL. Any other end is a failure of the tool, not a verdict.
REFUSALS = ("ParseError", "SemanticError", "ValueError")
UNSUPPORTED = (":adl", ":conditional-effects", ":fluents", ":numeric-fluents", ":durative-actions", ":derived-predicates",
               ":disjunctive-preconditions", ":existential-preconditions", ":universal-preconditions",
               ":quantified-preconditions", ":negative-preconditions", ":equality", ":action-costs", ":preferences")


class SolvedByPyperplan(Verifier):
    about = "Accepts a candidate if pyperplan finds a plan for it"
    version = "1.0.0"
    options = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "search": {"enum": ["astar", "wastar", "gbf", "bfs", "ehs", "ids"], "default": "gbf", "description": "The search."},
            "heuristic": {"type": "string", "default": "hff", "description": "The heuristic; bfs and ids have none."},
            "seconds": {"type": "number", "default": 30, "minimum": 1, "description": "Most seconds for one candidate."},
        },
    }
    metrics = {"steps": "steps of pyperplan's plan"}
    # Results come from a program outside, so the host journals them, and replays need no pyperplan.
    capabilities = {"external": "always"}

    def setup(self):
        if importlib.util.find_spec("pyperplan") is None:
            message = f"the Python package pyperplan is not installed for {sys.executable}"
            raise Failure("pyperplan.missing", message, help="pip install pyperplan", failure_class="system")

    def check(self, host, task, candidate):
        domain, problem = candidate.get("domain"), candidate.get("problem")
        if not domain or not problem:
            return undecided("the candidate has no domain or no problem")
        words = domain.lower().replace("(", " ").replace(")", " ").split()
        for word in UNSUPPORTED:
            if word in words:
                return not_comparable(f"pyperplan does not plan for `{word}`")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("domain.pddl", domain), ("problem.pddl", problem)):
                # It takes PDDL in lower case.
                Path(folder, name).write_text(text.lower(), encoding="utf-8")
            return self.judge(host, Path(folder))

    def judge(self, host, folder):
        code, output = self.start(host, folder)
        solution = folder / "problem.pddl.soln"
        if code is None:
            return undecided(f"pyperplan took more than {self.options.seconds} s", reason="limit")
        if solution.exists():
            steps = len(solution.read_text().splitlines())
            return accepted(f"pyperplan found a plan of {steps} steps", metrics={"steps": steps})
        if NOTHING in output:
            message = "There is no plan from the initial state to the goal."
            return rejected("pyperplan found that there is no plan", feedback=[message])
        reason = output.strip().splitlines()[-1] if output.strip() else f"exit code {code}"
        if not reason.split(":")[0].endswith(REFUSALS):
            raise Failure("pyperplan.broke", f"pyperplan broke down: {reason}")
        return rejected(f"pyperplan cannot read it: {reason}", feedback=[f"A second PDDL parser refuses it: {reason}"])

    def start(self, host, folder):
        """Exit code and output of pyperplan; no code if it took too long. It ends with the call, too."""
        options = self.options
        command = [sys.executable, "-m", "pyperplan", "-s", options.search, "-H", options.heuristic]
        until = time.monotonic() + options.seconds
        with open(folder / "output", "w+", encoding="utf-8") as output:
            files = ["domain.pddl", "problem.pddl"]
            process = subprocess.Popen([*command, *files], cwd=folder, stdout=output, stderr=subprocess.STDOUT)
            while process.poll() is None:
                if time.monotonic() > until or host.cancelled or host.remaining_ms == 0:
                    process.kill()
                    process.wait()
                    if host.cancelled:
                        raise Failure("host.cancelled", "the run was interrupted", failure_class="cancelled")
                    return None, ""
                time.sleep(0.01)
            output.seek(0)
            return process.returncode, output.read()


if __name__ == "__main__":
    run(SolvedByPyperplan)
