import unittest

from planforge_plugin.testing import TestHost, call, create
from {{MODULE}} import {{TYPE}}


class {{TYPE}}Test(unittest.TestCase):
    def test_it_reads_the_problem_out_of_the_reply(self):
        reply = "Here it is:\n```\n(define (problem p) (:domain d) (:init (a)) (:goal (b)))\n```"
        host = TestHost({"writer": [reply, "I cannot."]})
        task = {"domain_text": "A lamp.", "task_text": "It should be lit."}
        request = {"task": task, "candidate": {"lineage": []}, "n": 2}
        good, bad = call(create({{TYPE}}), "translate", host, request=request)["samples"]
        self.assertTrue(good["ok"]["problem"].startswith("(define (problem p)"))
        self.assertEqual(bad["failure"]["code"], "reply.no-pddl")
        self.assertIn("It should be lit.", host.requests[0][1]["messages"][0]["content"])


if __name__ == "__main__":
    unittest.main()
