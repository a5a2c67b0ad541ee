import unittest

from near_cheapest import NearCheapest
from planforge_plugin import exhausted, plan_found
from planforge_plugin.testing import TestHost, candidate, create, verify


class NearCheapestTest(unittest.TestCase):
    def judge(self, steps, answer, **options):
        host = TestHost(planners={"cheapest": answer})
        one = candidate(steps, domain="(define (domain d))", problem="(define (problem p))")
        return verify(create(NearCheapest, options), one, host=host)[0]

    def test_plans_are_compared_with_the_cheapest(self):
        two = plan_found(["(a)", "(b)"], optimal=True)
        self.assertEqual(self.judge(["(a)", "(c)", "(b)"], two)["decision"], "accepted")
        long = self.judge(["(a)", "(c)", "(d)", "(b)"], two)
        self.assertEqual((long["decision"], long["metrics"]), ("rejected", {"ratio": 2.0}))
        self.assertEqual(self.judge(["(a)"] * 4, two, factor=2)["decision"], "accepted")

    def test_nothing_is_decided_without_a_cheapest_plan(self):
        for answer in (exhausted(), plan_found(["(a)"])):
            self.assertEqual(self.judge(["(a)"], answer)["decision"], "undecided")
        self.assertEqual(self.judge(None, exhausted())["decision"], "undecided")


if __name__ == "__main__":
    unittest.main()
