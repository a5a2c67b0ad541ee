"""{{NAME}}: a verifier that accepts plans of at most so many steps."""

from planforge_plugin import Verifier, accepted, plan_steps, rejected, run, undecided


class {{TYPE}}(Verifier):
    about = "Accepts plans of at most so many steps"
    options = {"most_steps": 20}
    metrics = {"steps": "steps of the plan"}

    def check(self, host, task, candidate):
        steps = plan_steps(candidate)
        if steps is None:
            return undecided("the candidate has no plan")
        most = self.options.most_steps
        summary = f"{len(steps)} steps, at most {most}"
        metrics = {"steps": len(steps)}
        if len(steps) <= most:
            return accepted(summary, metrics=metrics)
        feedback = [f"The plan has {len(steps)} steps; find one of at most {most}."]
        return rejected(summary, metrics=metrics, feedback=feedback)


if __name__ == "__main__":
    run({{TYPE}})
