"""Water jugs as an environment for planforge: no PDDL anywhere, only arithmetic. The protocol: plugins/environment-process/PROTOCOL.md"""
import json, sys

# Task -> the jugs with their litres, the jug that must hold the goal, and how much. A name that is not here is p01.
TASKS = {
    "p01": ({"small": 3, "large": 5}, "large", 4),
    "p02": ({"cup": 1, "small": 4, "large": 9}, "large", 6),
    "p03": ({"small": 5, "large": 8}, "small", 2),
}
ACTIONS = {"fill": ["jug"], "empty": ["jug"], "pour": ["from", "to"]}


class Jugs:
    def reset(self, task):
        self.size, self.jug, self.goal = TASKS.get(task, TASKS["p01"])
        self.litres = dict.fromkeys(self.size, 0)

    def step(self, text):  # the reason why it cannot be done, or None
        name, *jugs = text.strip("() ").split()
        if len(jugs) != len(ACTIONS.get(name, [])) or name not in ACTIONS or not set(jugs) <= set(self.size):
            return f"{text} is not an action here"
        first, last = jugs[0], jugs[-1]
        if name == "fill" and self.litres[first] == self.size[first] or name != "fill" and not self.litres[first]:
            return f"the {first} jug is {'full' if name == 'fill' else 'empty'}"
        if name == "pour" and (first == last or self.litres[last] == self.size[last]):
            return f"the {last} jug takes no more"
        moved = min(self.litres[first], self.size[last] - self.litres[last]) if name == "pour" else 0
        self.litres[first] = {"fill": self.size[first], "empty": 0, "pour": self.litres[first] - moved}[name]
        self.litres[last] += moved

    def try_all(self, actions):  # how many were done, and why not the next
        for done, text in enumerate(actions):
            if refusal := self.step(text):
                return done, refusal
        return len(actions), None

    def answer(self, method, ask):
        if method in ("describe", "reset", "validate", "describe_state"):
            self.reset(ask["task"])
        if method == "describe":
            actions = [{"name": n, "parameters": [{"name": p, "type": "jug"} for p in ps]} for n, ps in ACTIONS.items()]
            objects = [{"name": jug, "type": "jug"} for jug in self.size]
            return {"protocol": 1, "methods": ["step", "describe_state"], "actions": actions, "objects": objects}
        if method == "step":
            return {"executed": not (refusal := self.step(ask["action"])), "refusal": refusal}
        if method == "validate":
            done, refusal = self.try_all(ask["plan"])
            reached = refusal is None and self.litres[self.jug] == self.goal
            missing = refusal or f"the {self.jug} jug holds {self.litres[self.jug]} litres, not {self.goal}"
            return {"valid": reached, "executed": done, "reasons": [] if reached else [missing]}
        if method == "describe_state":
            self.try_all(ask["actions"])
            return {"sentences": [f"The {jug} jug holds {n} of {self.size[jug]} litres." for jug, n in self.litres.items()]}
        return {}  # reset


jugs = Jugs()
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "result": jugs.answer(request["method"], request)}), flush=True)
