import unittest

from planforge_plugin.testing import candidate, create, verify
from {{MODULE}} import {{TYPE}}


class {{TYPE}}Test(unittest.TestCase):
    def test_short_plans_are_accepted_and_long_ones_rejected(self):
        plugin = create({{TYPE}}, {"most_steps": 3})
        results = verify(plugin, candidate(["(wait)"] * 3), candidate(["(wait)"] * 4), candidate())
        self.assertEqual([one["decision"] for one in results], ["accepted", "rejected", "undecided"])


if __name__ == "__main__":
    unittest.main()
