"""A translator that asks a model for the domain or the problem, and once more if the reply holds none."""

from planforge_plugin import Failure, Translator, assistant, patch, run, tags, user


class AskAgain(Translator):
    about = "Asks for PDDL, and once more if the reply holds none"
    version = "1.0.0"
    options = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"what": {"enum": ["domain", "problem"], "default": "problem", "description": "What the model writes."}},
    }
    roles = {"writer": "writes the PDDL"}
    # One request for all samples, and at most one more for each.
    capabilities = {"requests": [{"count": {"sum": [{"for-all-samples": 1}, "samples"]}}]}

    def question(self, request):
        task, given, candidate = request["task"], request["task"].get("given", {}), request["candidate"]
        parts = [task["domain_text"], task["task_text"]]
        for what in {"domain", "problem"} - {self.options.what}:
            pddl = candidate.get(what) or given.get(what)
            if pddl:
                parts.append(f"The PDDL {what}:\n{pddl}")
        parts += request.get("feedback", [])
        parts.append(f"Write the PDDL {self.options.what}.")
        return [user("\n\n".join(part for part in parts if part))]

    def translate(self, host, request):
        messages = self.question(request)
        origin = tags(request["task"], self.options.what)
        answer = host.complete("writer", messages, sampling={"n": request["n"]}, tags=origin)
        samples = []
        for done, reply in enumerate(answer["replies"], 1):
            try:
                samples.append(self.read(host, reply, messages, origin))
            except Failure as failure:  # of this sample alone
                samples.append(failure)
            host.progress(done, request["n"], "samples")
        return samples

    def read(self, host, reply, messages, origin):
        what = self.options.what
        try:
            return patch(reply, what, messages)
        except Failure as failure:
            host.log(f"asking again: {failure.message}")
        again = [*messages, assistant(reply["content"]), user(f"Reply with the PDDL {what} alone: (define ({what} ...).")]
        return patch(host.complete("writer", again, tags=origin)["replies"][0], what, again)


if __name__ == "__main__":
    run(AskAgain)
