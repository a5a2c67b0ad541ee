import unittest

from ask_again import AskAgain
from planforge_plugin.testing import TestHost, call, create

TASK = {"domain_text": "A lamp.", "task_text": "It should be lit.", "given": {"domain": "(define (domain lamps))"}}
PROBLEM = "(define (problem p) (:domain lamps))"


class AskAgainTest(unittest.TestCase):
    def test_a_reply_without_pddl_is_asked_for_again_once(self):
        host = TestHost({"writer": [f"Here: {PROBLEM}", "What lamp?", "No.", PROBLEM, "Never."]})
        request = {"task": TASK, "candidate": {"lineage": []}, "n": 3}
        first, second, third = call(create(AskAgain), "translate", host, request=request)["samples"]
        self.assertEqual(first["ok"]["problem"], PROBLEM)
        self.assertEqual(second["ok"]["problem"], PROBLEM)
        self.assertEqual(len(second["ok"]["messages"]), 4)
        self.assertEqual(third["failure"]["code"], "reply.no-pddl")
        self.assertEqual([role for role, _ in host.requests], ["writer"] * 3)
        self.assertIn("(define (domain lamps))", host.requests[0][1]["messages"][0]["content"])


if __name__ == "__main__":
    unittest.main()
