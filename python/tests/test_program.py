import json
import os
import subprocess
import sys
import textwrap
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PLUGIN = textwrap.dedent(
    """
    import subprocess, sys, threading
    from planforge_plugin import Failure, Verifier, accepted, run

    meeting = threading.Barrier(3)

    class Odd(Verifier):
        about = "Does odd things"
        options = {"fault": "none"}

        def setup(self):
            print("set up with", self.options.fault)
            if self.options.fault == "refuse":
                raise Failure("odd.refused", "I do not want to", help="want to", failure_class="request")

        def close(self):
            print("closed")

        def verify(self, host, request):
            return getattr(self, request["candidates"][0]["problem"])(host)

        def fine(self, host):
            print("hidden")
            subprocess.run(["echo", "also hidden"])
            assert sys.stdin.read() == ""
            return [accepted("fine")]

        def meet(self, host):
            meeting.wait()
            return [accepted("met")]

        def ask(self, host):
            return [accepted(host.complete("critic", "yes?")["replies"][0]["content"])]

        def wait(self, host):
            host.progress(0, 1, "waiting")
            while not host.cancelled:
                pass
            raise Failure("host.cancelled", "stopped", failure_class="cancelled")

        def left(self, host):
            return [accepted(str(host.remaining_ms > 50_000))]

        def broken(self, host):
            raise KeyError("hall")

        def leave(self, host):
            sys.exit(4)

        def infinite(self, host):
            return [accepted(metrics={"x": float("inf")})]

        def surrogate(self, host):
            return [accepted("half \\ud800")]

        def long(self, host):
            return [accepted("x" * (65 << 20))]

    if __name__ == "__main__":
        run(Odd)
    """
)


class Session:
    """A running plugin and the messages from it."""

    def __init__(self):
        command = [sys.executable, "-c", PLUGIN]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": ROOT}, **pipes)
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.append(self.process.stderr.read().decode()))
        self.reader.start()

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def call(self, number, method, **params):
        self.send(id=number, method=method, params=params)
        answer = self.receive()
        assert answer["id"] == number, answer
        return answer

    def begin(self, number, what):
        request = {"task": {}, "candidates": [{"problem": what}]}
        self.send(id=number, method="verify", params={"instance": 1, "remaining_ms": 60_000, "request": request})

    def verify(self, what):
        self.begin(7, what)
        return self.receive()

    def end(self):
        """Closes standard input; returns what is left of the output, and standard error."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        self.process.wait(60)
        self.reader.join(60)
        self.process.stdout.close()
        self.process.stderr.close()
        return rest, self.errors[0]


class ProgramTests(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(lambda: self.session.process.stdin.closed or self.session.end())
        self.session.call(1, "plugin/create", instance=1, options={}, secrets={})

    def summary(self, answer):
        return answer["result"]["results"][0]["ok"]["summary"]

    def test_the_program_describes_itself_and_ends_with_its_input(self):
        info = self.session.call(2, "plugin/describe")["result"]
        self.assertEqual((info["kind"], info["about"]), ("verifier", "Does odd things"))
        rest, errors = self.session.end()
        self.assertEqual((rest, self.session.process.returncode), (b"", 0))
        self.assertIn("closed", errors)

    def test_what_is_printed_goes_to_standard_error(self):
        self.assertEqual(self.summary(self.session.verify("fine")), "fine")
        rest, errors = self.session.end()
        self.assertEqual(rest, b"")
        for line in ("set up with none", "hidden", "also hidden"):
            self.assertIn(line, errors)

    def test_calls_run_side_by_side(self):
        for number in (10, 11, 12):
            self.session.begin(number, "meet")
        answers = [self.session.receive() for _ in range(3)]
        self.assertEqual(sorted(one["id"] for one in answers), [10, 11, 12])

    def test_questions_of_several_calls_are_told_apart(self):
        for number in range(20, 30):
            self.session.begin(number, "ask")
        asked = [self.session.receive() for _ in range(10)]
        for question in reversed(asked):
            self.assertEqual(question["params"]["role"], "critic")
            reply = {"content": f"for {question['params']['call']}", "finish": "stop"}
            self.session.send(id=question["id"], result={"result": "replies", "replies": [reply]})
        for answer in [self.session.receive() for _ in range(10)]:
            self.assertEqual(self.summary(answer), f"for {answer['id']}")

    def test_a_failure_of_the_host_reaches_the_plugin_and_goes_back_unchanged(self):
        self.session.begin(7, "ask")
        question = self.session.receive()
        failure = {"class": "deferred", "code": "llm.pending", "message": "later", "more": 1}
        self.session.send(id=question["id"], error={"code": -32000, "message": "later", "data": failure})
        self.assertEqual(self.session.receive()["error"]["data"], failure)

    def test_a_cancelled_call_sees_it(self):
        self.session.begin(7, "wait")
        self.assertEqual(self.session.receive()["method"], "host/progress")
        self.session.send(method="call/cancel", params={"call": 7})
        self.session.send(method="call/cancel", params={"call": 99})
        self.assertEqual(self.session.receive()["error"]["data"]["code"], "host.cancelled")

    def test_open_calls_do_not_hold_the_end_up(self):
        self.session.begin(7, "ask")
        self.session.receive()
        self.session.begin(8, "wait")
        self.session.receive()
        self.session.end()
        self.assertEqual(self.session.process.returncode, 0)

    def test_remaining_time_is_known(self):
        self.assertEqual(self.summary(self.session.verify("left")), "True")

    def test_an_exception_becomes_an_error_and_its_traceback_goes_to_standard_error(self):
        error = self.session.verify("broken")["error"]
        self.assertEqual(error["message"], "KeyError: 'hall'")
        self.assertEqual((error["data"]["class"], error["data"]["code"]), ("plugin", "plugin.exception"))
        self.assertRegex(error["data"]["place"], r"^<string>:\d+$")
        for what, message in (
            ("leave", "SystemExit: 4"),
            ("infinite", "ValueError: Out of range float values"),
            ("unknown", "AttributeError"),
            ("long", "a message of 65 MB; the host reads at most 64 MB"),
        ):
            self.assertIn(message, self.session.verify(what)["error"]["message"])
        self.assertEqual(self.summary(self.session.verify("surrogate")), "half ?")
        self.assertEqual(self.summary(self.session.verify("fine")), "fine")
        self.assertIn("Traceback (most recent call last):", self.session.end()[1])

    def test_an_instance_may_be_refused(self):
        answer = self.session.call(3, "plugin/create", instance=2, options={"fault": "refuse"})
        self.assertEqual(
            answer["error"]["data"],
            {"class": "request", "code": "odd.refused", "message": "I do not want to", "help": "want to"},
        )
        self.assertIsNone(self.session.call(4, "plugin/close", instance=1)["result"])


if __name__ == "__main__":
    unittest.main()
