import unittest

from planforge_plugin.testing import call, create
from {{MODULE}} import {{TYPE}}


class {{TYPE}}Test(unittest.TestCase):
    def test_the_reply_is_that_of_the_options(self):
        request = {"messages": [{"role": "user", "content": "yes or no?"}]}
        result = call(create({{TYPE}}, {"reply": "yes"}), "complete", request=request)
        self.assertEqual([one["content"] for one in result["replies"]], ["yes"])


if __name__ == "__main__":
    unittest.main()
