"""{{NAME}}: a planner that asks a language model for the steps. Nothing is proven; a verifier judges the plan."""

from planforge_plugin import Planner, exhausted, plan_found, run, tags


class {{TYPE}}(Planner):
    about = "Asks a language model for the steps"
    options = {"instructions": "Write a plan, one action a line, as (name object ...)."}
    roles = {"planner": "writes the plan"}
    capabilities = {"requests": [{"count": {"number": 1}}]}

    def plan(self, host, request):
        question = "\n\n".join([request["domain"], request["problem"], self.options.instructions])
        answer = host.complete("planner", question, tags=tags(request.get("task", {}), "plan"))
        lines = [line.strip() for line in answer["replies"][0]["content"].splitlines()]
        steps = [line for line in lines if line.startswith("(") and line.endswith(")")]
        return plan_found(steps) if steps else exhausted("the reply holds no line that is an action")


if __name__ == "__main__":
    run({{TYPE}})
