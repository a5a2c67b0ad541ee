import unittest

from planforge_plugin.testing import call, create
from {{MODULE}} import {{TYPE}}


class {{TYPE}}Test(unittest.TestCase):
    def test_walks_are_executable_and_a_plan_is_judged(self):
        lamp = create({{TYPE}})
        walks = call(lamp, "walks", task={}, spec={"lengths": [1, 3], "seed": 1})["walks"]
        self.assertEqual(walks[1], ["(switch-on)", "(switch-off)", "(switch-on)"])
        self.assertTrue(call(lamp, "validate", task={}, plan={"steps": ["(switch-on)"]})["valid"])
        verdict = call(lamp, "validate", task={}, plan={"steps": []})
        self.assertEqual(verdict["reasons"], ["the lamp is not lit"])


if __name__ == "__main__":
    unittest.main()
