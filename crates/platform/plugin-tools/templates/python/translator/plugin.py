"""{{NAME}}: a translator that asks for the problem in one question."""

from planforge_plugin import Failure, Translator, patch, run, system, tags, user


class {{TYPE}}(Translator):
    about = "Asks for the problem in one question"
    options = {"instructions": ""}
    roles = {"writer": "writes the problem"}
    capabilities = {"requests": [{"count": {"for-all-samples": 1}}]}

    def question(self, request):
        task, candidate = request["task"], request["candidate"]
        parts = [task["domain_text"], task["task_text"]]
        domain = candidate.get("domain") or task.get("given", {}).get("domain")
        if domain:
            parts.append(f"The PDDL domain:\n{domain}")
        parts.append("Write the PDDL problem.")
        parts += request.get("feedback", [])
        instructions = [system(self.options.instructions)] if self.options.instructions else []
        return [*instructions, user("\n\n".join(parts))]

    def translate(self, host, request):
        messages = self.question(request)
        origin = tags(request["task"], "problem")
        answer = host.complete("writer", messages, sampling={"n": request["n"]}, tags=origin)
        return [self.read(reply, messages) for reply in answer["replies"]]

    def read(self, reply, messages):
        try:
            return patch(reply, "problem", messages)
        except Failure as failure:  # of this sample alone
            return failure


if __name__ == "__main__":
    run({{TYPE}})
