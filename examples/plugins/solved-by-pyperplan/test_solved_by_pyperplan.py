import importlib.util
import unittest
from unittest import mock

from planforge_plugin import Failure
from planforge_plugin.testing import candidate, create, verify
from solved_by_pyperplan import SolvedByPyperplan

DOMAIN = """(define (domain lamps) (:requirements :strips) (:predicates (lit) (dark))
  (:action switch-on :parameters () :precondition (dark) :effect (and (lit) (not (dark)))))"""
GOOD = "(define (problem p) (:domain lamps) (:init (dark)) (:goal (and (lit))))"
BAD = "(define (problem p) (:domain lamps) (:init (lit)) (:goal (and (dark))))"
HAS_PYPERPLAN = importlib.util.find_spec("pyperplan") is not None


class SolvedByPyperplanTest(unittest.TestCase):
    def test_a_missing_package_is_a_failure_with_help(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaises(Failure) as caught:
                create(SolvedByPyperplan)
        self.assertEqual((caught.exception.code, caught.exception.help), ("pyperplan.missing", "pip install pyperplan"))

    @unittest.skipUnless(HAS_PYPERPLAN, "pyperplan is not installed")
    def test_what_pyperplan_solves_is_accepted(self):
        plugin = create(SolvedByPyperplan)
        adl = DOMAIN.replace(":strips", ":adl")
        results = verify(
            plugin,
            candidate(domain=DOMAIN, problem=GOOD),
            candidate(domain=DOMAIN, problem=BAD),
            candidate(domain=DOMAIN, problem=GOOD[:-2]),
            candidate(domain=adl, problem=GOOD),
            candidate(),
        )
        self.assertEqual(
            [one["decision"] for one in results], ["accepted", "rejected", "rejected", "not-comparable", "undecided"]
        )
        self.assertEqual(results[0]["metrics"], {"steps": 1})


if __name__ == "__main__":
    unittest.main()
