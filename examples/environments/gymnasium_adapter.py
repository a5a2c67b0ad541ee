"""Speaks for a Gymnasium environment with a discrete action space: python3 gymnasium_adapter.py ID [KEY=JSON ...]

    planforge plugins try-environment -- python3 examples/environments/gymnasium_adapter.py FrozenLake-v1 is_slippery=false
    planforge plugins try-environment -- python3 examples/environments/gymnasium_adapter.py Taxi-v4

Every action of the space becomes an action without parameters, `act-0`, `act-1`, ... or by its name where NAMES knows the
environment. An action is refused where the environment's own mask forbids it (`info["action_mask"]`), and, where there is no
mask, when it changes nothing that is observed or the episode is over. The goal is an episode that ends with a positive reward.
Random environments are made repeatable by resetting with one seed; those whose steps draw from it stay repeatable, too.
The protocol is described in plugins/environment-process/PROTOCOL.md.
"""
import json
import sys

NAMES = {
    "FrozenLake": ["left", "down", "right", "up"],
    "CliffWalking": ["up", "right", "down", "left"],
    "Taxi": ["south", "north", "east", "west", "pick-up", "drop-off"],
}
SEED = 0


def make(arguments):
    try:
        import gymnasium
    except ImportError:
        sys.exit("gymnasium_adapter.py needs the Python package gymnasium: pip install gymnasium")
    settings = dict(argument.split("=", 1) for argument in arguments[1:])
    env = gymnasium.make(arguments[0], **{key: json.loads(value) for key, value in settings.items()})
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        sys.exit(f"{arguments[0]} has the action space {env.action_space}; this adapter speaks for discrete ones")
    return env


class Adapter:
    def __init__(self, arguments):
        self.env = make(arguments)
        space = self.env.action_space
        known = next((names for start, names in NAMES.items() if arguments[0].startswith(start)), [])
        names = known if len(known) == space.n else [f"act-{n}" for n in range(space.n)]
        self.actions = {f"({name})": int(space.start) + n for n, name in enumerate(names)}
        self.reset()

    def reset(self):
        self.seen, self.info = self.env.reset(seed=SEED)
        self.done, self.won, self.taken = False, False, []

    def replay(self, taken):
        self.reset()
        for number in taken:
            self.act(number)

    def act(self, number):
        self.seen, reward, ended, cut, self.info = self.env.step(number)
        self.done, self.won = ended or cut, bool(ended and reward > 0)
        self.taken.append(number)

    def step(self, text):
        """The reason why it cannot be done, or None."""
        number = self.actions.get(text)
        if number is None:
            return f"{text} is not an action here"
        if self.done:
            return "the episode is over"
        mask = self.info.get("action_mask") if self.info else None
        if mask is not None and not mask[number - int(self.env.action_space.start)]:
            return f"{text} is not possible here"
        before, taken = self.look(), list(self.taken)
        self.act(number)
        if mask is None and not self.done and self.look() == before:
            self.replay(taken)  # what changes nothing is refused, and leaves no trace
            return f"{text} changes nothing here"
        return None

    def look(self):
        """What is observed, as JSON values."""
        space = self.env.unwrapped
        if hasattr(space, "decode"):  # Taxi packs its state into one number
            return [int(part) for part in space.decode(self.seen)]
        return self.seen.tolist() if hasattr(self.seen, "tolist") else self.seen

    def run(self, actions):
        self.reset()
        for done, text in enumerate(actions):
            if refusal := self.step(text):
                return done, refusal
        return len(actions), None

    def answer(self, method, ask):
        if method == "describe":
            actions = [{"name": text.strip("()"), "parameters": []} for text in self.actions]
            return {"protocol": 1, "methods": ["step", "execute", "describe_state"], "actions": actions, "objects": []}
        if method == "reset":
            self.reset()
            return {}
        if method == "step":
            refusal = self.step(ask["action"])
            return {"executed": refusal is None, "refusal": refusal}
        if method == "execute":
            runs = [self.run(sequence) for sequence in ask["sequences"]]
            return {"executions": [{"executed": done, "refusal": refusal} for done, refusal in runs]}
        if method == "validate":
            done, refusal = self.run(ask["plan"])
            valid = refusal is None and self.won
            return {"valid": valid, "executed": done, "reasons": [] if valid else [refusal or "the episode is not won"]}
        if method == "describe_state":
            self.run(ask["actions"])
            over = " The episode is over." if self.done else ""
            return {"sentences": [f"The observation is {json.dumps(self.look())}.{over}"]}
        raise ValueError(f"there is no method {method}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    adapter = Adapter(sys.argv[1:])
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        try:
            answer["result"] = adapter.answer(request["method"], request)
        except Exception as error:
            answer["error"] = {"message": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
