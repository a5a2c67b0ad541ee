import dataclasses
import unittest
from typing import Dict, List, Literal, Optional

from planforge_plugin import Verifier
from planforge_plugin.options import options_schema, read_options
from planforge_plugin.plugin import describe


@dataclasses.dataclass
class Limit:
    action: str
    most: int = 1


@dataclasses.dataclass
class Options:
    """What the stage may set."""

    name: str
    limits: List[Limit] = dataclasses.field(default_factory=list, metadata={"about": "Limits of actions"})
    weights: Dict[str, float] = dataclasses.field(default_factory=dict)
    mode: Literal["fast", "slow"] = "fast"
    seed: Optional[int] = None


class OptionsTests(unittest.TestCase):
    def test_defaults_become_a_schema_and_attributes(self):
        declared = {"most": 10, "share": 0.5, "strict": True, "names": ["a"], "any": None}
        schema = options_schema(declared)
        self.assertEqual(schema["properties"]["most"], {"type": "integer", "default": 10})
        self.assertEqual(schema["properties"]["strict"]["type"], "boolean")
        self.assertFalse(schema["additionalProperties"])
        options = read_options(declared, {"most": 3})
        self.assertEqual((options.most, options.share, options.any), (3, 0.5, None))

    def test_a_dataclass_becomes_a_schema_and_its_instance(self):
        schema = options_schema(Options)
        self.assertEqual(schema["required"], ["name"])
        limits = schema["properties"]["limits"]
        self.assertEqual((limits["description"], limits["default"]), ("Limits of actions", []))
        self.assertEqual(limits["items"]["properties"]["most"], {"type": "integer", "default": 1})
        self.assertEqual(schema["properties"]["mode"], {"enum": ["fast", "slow"], "default": "fast"})
        self.assertEqual(schema["properties"]["seed"]["anyOf"], [{"type": "integer"}, {"type": "null"}])
        options = read_options(Options, {"name": "x", "limits": [{"action": "load"}], "weights": {"a": 1}, "seed": 4})
        self.assertEqual(options, Options("x", [Limit("load", 1)], {"a": 1.0}, "fast", 4))
        self.assertIsInstance(options.weights["a"], float)

    def test_a_json_schema_is_taken_as_it_is(self):
        declared = {"type": "object", "properties": {"most": {"type": "integer", "default": 4}, "other": {}}}
        self.assertIs(options_schema(declared), declared)
        self.assertEqual(vars(read_options(declared, {})), {"most": 4})

    def test_a_default_that_json_cannot_hold_is_refused(self):
        with self.assertRaisesRegex(TypeError, "the default of an option is one of bool, int"):
            options_schema({"names": {"a", "b"}})
        with self.assertRaisesRegex(TypeError, "an option cannot have the type"):
            options_schema(dataclasses.make_dataclass("Bad", [("x", complex)]))

    def test_a_description_is_built_from_the_class(self):
        class Described(Verifier):
            """The first line.

            More.
            """

            metrics = {"steps": "steps of the plan"}
            roles = {"critic": "reads the plan"}
            measures = ["plan-validity"]

        info = describe(Described)
        self.assertEqual((info["kind"], info["about"], info["version"]), ("verifier", "The first line.", "0.1.0"))
        self.assertEqual(info["metrics"], [{"name": "steps", "about": "steps of the plan"}])
        self.assertEqual(info["roles"][0]["name"], "critic")
        self.assertEqual(info["options_schema"]["properties"], {})


if __name__ == "__main__":
    unittest.main()
