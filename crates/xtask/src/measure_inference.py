"""Grounding and solving with PyPI's clingo, timed inside the process, imports excluded.

Reads one JSON request a line, {"programs": [text, ...], "repeats": n}, and answers each with one line {"ms": median}: the time
to ground and solve all programs and to read the atoms of at most two answer sets of each.
"""
import json
import statistics
import sys
import time

import clingo


class Functions:
    """The external functions of the programs, as far as the time depends on them."""

    def id(self, kind, index):
        return clingo.Function(f"{kind}{index}")


def solve(program):
    control = clingo.Control(["--models=2"], logger=lambda code, text: None)
    control.add("base", [], program)
    control.ground([("base", [])], context=Functions())
    with control.solve(yield_=True) as handle:
        return [[str(atom) for atom in model.symbols(shown=True)] for model in handle]


for line in sys.stdin:
    request = json.loads(line)
    times = []
    for _ in range(max(1, request["repeats"])):
        start = time.perf_counter()
        for program in request["programs"]:
            solve(program)
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"ms": statistics.median(times)}), flush=True)
