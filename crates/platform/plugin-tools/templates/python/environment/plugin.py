"""{{NAME}}: an environment with one lamp. Walks, executions and verdicts are derived from single steps."""

from planforge_plugin import Environment, Refused, run


class {{TYPE}}(Environment):
    about = "One lamp that can be switched on and off; the goal is that it is lit"
    options = {"lit": False}

    def interface(self, task):
        return {"actions": [{"name": name, "parameters": []} for name in ("switch-on", "switch-off")]}

    def reset(self, task):
        return self.options.lit

    def actions(self, lit):
        return ["(switch-off)"] if lit else ["(switch-on)"]

    def step(self, lit, action):
        if action not in self.actions(lit):
            raise Refused(f"{action} cannot be executed: the lamp is {'lit' if lit else 'dark'}")
        return not lit

    def missing(self, lit):
        return [] if lit else ["the lamp is not lit"]

    def sentences(self, lit):
        return {"sentences": [f"The lamp is {'lit' if lit else 'dark'}."], "atoms": ["(lit)"] if lit else []}


if __name__ == "__main__":
    run({{TYPE}})
