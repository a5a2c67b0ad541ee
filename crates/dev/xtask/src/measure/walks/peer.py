"""Walk scores with pymimir, timed inside the process, imports excluded.

Reads one JSON request a line, {"texts": [[domain, problem], [domain, problem]], "mode": "grounded" or "lifted",
"seed": n}, and answers each with one line {"wall": seconds, "cpu": seconds, "score": s, "steps": n}, or {"error": "..."}.
"""
import gc
import json
import os
import random
import sys
import time

from pymimir import Domain, Problem


def direction(source, target, walks, rng):
    """Walks of the source executed on the target; walk k has at most k mod 10 + 1 steps."""
    known, executable, steps = {}, 0, 0
    everything = [*target.get_domain().get_constants(), *target.get_objects()]
    objects = {o.get_name(): o for o in everything}
    actions = {a.get_name(): a for a in target.get_domain().get_actions()}
    for k in range(walks):
        state, other = source.get_initial_state(), target.get_initial_state()
        for _ in range(k % 10 + 1):
            legal = state.generate_applicable_actions()
            if not legal:
                break
            action = legal[rng.randrange(len(legal))]
            state = action.apply(state)
            steps += 1
            if other is None:
                continue
            index = action.get_index()
            if index not in known:
                args = [objects[o.get_name()] for o in action.get_objects()]
                name = action.get_action().get_name()
                known[index] = target.new_ground_action(actions[name], args)
            own = known[index]
            other = own.apply(other) if own.is_applicable(other) else None
        executable += other is not None
    return executable / walks, steps


def score(texts, mode, seed):
    rng = random.Random(seed)
    one, two = (Problem(Domain(domain), problem, mode) for domain, problem in texts)
    a, first = direction(one, two, 50, rng)
    b, second = direction(two, one, 50, rng)
    return (2 * a * b / (a + b) if a + b else 0.0), first + second


# The library writes what it grounds to standard output: out of the way, so that it costs next to nothing.
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
for line in sys.stdin:
    request = json.loads(line)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        value, steps = score(request["texts"], request["mode"], request["seed"])
        answer = {"score": value, "steps": steps}
    except Exception as error:
        answer = {"error": str(error).replace("\n", " ")}
    answer["wall"], answer["cpu"] = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps(answer), file=answers, flush=True)
