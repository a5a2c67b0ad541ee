"""{{NAME}}: a provider that gives the same reply to every question."""

from planforge_plugin import Provider, replies, run


class {{TYPE}}(Provider):
    about = "Gives the same reply to every question"
    options = {"reply": ""}
    capabilities = {"simulated": True}  # no language model; reports mark such results

    # One question, one attempt: retries, limits and further samples are the host's.
    def complete(self, host, request):
        return replies(self.options.reply)


if __name__ == "__main__":
    run({{TYPE}})
