"""A verifier that accepts plans that cost at most 1.5 times the cheapest. It asks a planner of the pipeline for the cheapest."""

from planforge_plugin import Verifier, accepted, best_plan, rejected, run, undecided


def cost(plan):
    """The cost of a plan document: the planner's figure, else the number of steps."""
    stated = plan.get("cost")
    return len(plan["steps"]) if stated is None else stated


class NearCheapest(Verifier):
    about = "Accepts plans of at most 1.5 times the cost of the cheapest"
    version = "1.0.0"
    options = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "planner": {"type": "string", "default": "cheapest", "description": "Label of a plan stage whose plans are cheapest."},
            "factor": {"type": "number", "default": 1.5, "minimum": 1, "description": "Highest cost, as a multiple of the cheapest."},
        },
    }
    metrics = {"ratio": "cost of the plan divided by the lowest cost; 1 is best"}

    def check(self, host, task, candidate):
        plan = best_plan(candidate.get("plan"))
        domain, problem = candidate.get("domain"), candidate.get("problem")
        if plan is None or not domain or not problem:
            return undecided("the candidate has no plan, no domain or no problem")
        answer = host.plan(self.options.planner, domain, problem)
        if answer["outcome"] != "plan":
            return undecided(f"the planner answers `{answer['outcome']}`", reason="unsupported")
        if not answer["optimal"]:
            return undecided(f"the plan of `{self.options.planner}` is not proven cheapest", reason="unsupported")
        lowest = cost(best_plan(answer))
        ratio = cost(plan) / lowest if lowest else float(cost(plan) + 1)
        summary = f"cost {cost(plan)}, cheapest {lowest}"
        if ratio <= self.options.factor:
            return accepted(summary, metrics={"ratio": ratio})
        feedback = [f"The plan costs {cost(plan)}; a plan of cost {lowest} exists."]
        return rejected(summary, metrics={"ratio": ratio}, feedback=feedback)


if __name__ == "__main__":
    run(NearCheapest)
