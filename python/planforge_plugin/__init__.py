"""Plugins of planforge in Python: write a class, and `run` it.

    from planforge_plugin import Verifier, accepted, plan_steps, rejected, run, undecided

    class ShortPlans(Verifier):
        about = "Rejects plans of more than `most` steps"
        options = {"most": 10}

        def check(self, host, task, candidate):
            steps = plan_steps(candidate)
            if steps is None:
                return undecided("the candidate has no plan")
            if len(steps) <= self.options.most:
                return accepted(f"{len(steps)} steps")
            return rejected(f"{len(steps)} steps", feedback=[f"Find a plan of at most {self.options.most} steps."])

    if __name__ == "__main__":
        run(ShortPlans)
"""

from .documents import (
    accepted,
    assistant,
    best_plan,
    exhausted,
    extract_pddl,
    limit_reached,
    not_comparable,
    patch,
    plan_found,
    plan_steps,
    provider_failure,
    rejected,
    replies,
    system,
    tags,
    undecided,
    unsolvable,
    user,
)
from .failure import Failure
from .host import Host
from .plugin import Environment, Planner, Provider, Refused, Translator, Verifier
from .program import run

__all__ = [
    "Environment",
    "Failure",
    "Host",
    "Planner",
    "Provider",
    "Refused",
    "Translator",
    "Verifier",
    "accepted",
    "assistant",
    "best_plan",
    "exhausted",
    "extract_pddl",
    "limit_reached",
    "not_comparable",
    "patch",
    "plan_found",
    "plan_steps",
    "provider_failure",
    "rejected",
    "replies",
    "run",
    "system",
    "tags",
    "undecided",
    "unsolvable",
    "user",
]
__version__ = "0.1.0"
