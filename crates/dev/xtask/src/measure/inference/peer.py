"""Grounding and solving with PyPI's clingo, timed inside the process, imports excluded.

Reads one JSON request a line, {"program": text, "models": n, "optimise": bool, "prefixes": {type: prefix}}, and answers each with one
line {"answers": [[atom, ...], ...], "complete": bool, "ms": time to ground, to solve and to read the atoms}.
"""
import json
import sys
import time

import clingo


class Functions:
    """The external functions of the programs."""

    def __init__(self, prefixes):
        self.prefixes = prefixes

    def id(self, kind, index):
        return clingo.Function(f"{self.prefixes.get(kind.name, kind.name)}{index.number}")


def solve(request):
    mode = "optN" if request["optimise"] else "ignore"
    options = [f"--models={request['models']}", f"--opt-mode={mode}"]
    control = clingo.Control(options, logger=lambda code, text: None)
    control.add("base", [], request["program"])
    control.ground([("base", [])], context=Functions(request["prefixes"]))
    answers = []
    with control.solve(yield_=True) as handle:
        for model in handle:
            if model.optimality_proven or not (request["optimise"] and model.cost):
                answers.append([str(atom) for atom in model.symbols(shown=True)])
        return answers, handle.get().exhausted


for line in sys.stdin:
    start = time.perf_counter()
    answers, complete = solve(json.loads(line))
    ms = (time.perf_counter() - start) * 1e3
    print(json.dumps({"answers": answers, "complete": complete, "ms": ms}), flush=True)
