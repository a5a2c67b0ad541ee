import unittest

from planforge_plugin import best_plan
from planforge_plugin.testing import TestHost, call, create
from {{MODULE}} import {{TYPE}}


class {{TYPE}}Test(unittest.TestCase):
    def test_lines_that_are_actions_are_the_plan(self):
        host = TestHost({"planner": ["The plan:\n(switch-on lamp)\nThat is all.", "There is none."]})
        request = {"domain": "(define (domain d))", "problem": "(define (problem p))", "k": 1}
        outcome = call(create({{TYPE}}), "plan", host, request=request)
        self.assertEqual(best_plan(outcome)["steps"], ["(switch-on lamp)"])
        self.assertEqual(call(create({{TYPE}}), "plan", host, request=request)["outcome"], "exhausted")


if __name__ == "__main__":
    unittest.main()
