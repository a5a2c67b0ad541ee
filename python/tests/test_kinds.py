import unittest

import planforge_plugin as pp
from planforge_plugin.testing import TestHost, call, candidate, create, verify


class Short(pp.Verifier):
    options = {"most": 2}

    def check(self, host, task, candidate):
        steps = pp.plan_steps(candidate)
        if steps is None:
            return pp.undecided("no plan")
        if len(steps) > 9:
            raise pp.Failure("short.too-long", "too long", failure_class="limit")
        return pp.accepted("short") if len(steps) <= self.options.most else pp.rejected("long")


class Writer(pp.Translator):
    roles = {"writer": "writes"}

    def translate(self, host, request):
        messages = [pp.user(request["task"]["task_text"])]
        asked = host.complete("writer", messages, sampling={"n": request["n"]})
        samples = []
        for reply in asked["replies"]:
            try:
                samples.append(pp.patch(reply, "problem", messages))
            except pp.Failure as failure:
                samples.append(failure)
        return samples


class Steps(pp.Planner):
    def plan(self, host, request):
        return pp.plan_found(["(a)"], ["(b)", "(a)"], expanded=3)


class Counter(pp.Environment):
    """A number from 0 to 3. The goal is 2."""

    def interface(self, task):
        return {"actions": [{"name": name, "parameters": []} for name in ("up", "down")]}

    def reset(self, task):
        return 0

    def actions(self, state):
        return ["(up)"] * (state < 3) + ["(down)"] * (state > 0)

    def step(self, state, action):
        if action not in self.actions(state):
            raise pp.Refused(f"{action} at {state}")
        return state + (1 if action == "(up)" else -1)

    def missing(self, state):
        return [] if state == 2 else [f"the number is {state}, not 2"]

    def sentences(self, state):
        return {"sentences": [f"The number is {state}."], "atoms": []}


class KindTests(unittest.TestCase):
    def test_a_verifier_judges_each_candidate_and_a_failure_is_one_candidate_s(self):
        plugin = create(Short)
        candidates = [candidate(["(a)"]), candidate(["(a)"] * 3), candidate(), candidate(["(a)"] * 10)]
        results = call(plugin, "verify", request={"task": {}, "candidates": candidates})["results"]
        self.assertEqual([one["ok"]["decision"] for one in results[:3]], ["accepted", "rejected", "undecided"])
        self.assertEqual(results[3]["failure"], {"class": "limit", "code": "short.too-long", "message": "too long"})
        with self.assertRaisesRegex(pp.Failure, "too long"):
            verify(plugin, *candidates)

    def test_options_are_refused_as_by_the_host(self):
        self.assertEqual(create(Short, {"most": 5}).options.most, 5)
        with self.assertRaisesRegex(pp.Failure, "no option `lost`"):
            create(Short, {"lost": 5})

    def test_a_translator_returns_one_sample_a_reply(self):
        problem = "(define (problem p) ; a comment with )\n (:init (a)))"
        host = TestHost({"writer": [f"Here:\n{problem}\nDone.", "I cannot."]})
        request = {"task": {"task_text": "Write."}, "candidate": {}, "n": 2}
        good, bad = call(create(Writer), "translate", host, request=request)["samples"]
        self.assertEqual(good["ok"]["problem"], problem)
        self.assertEqual([turn["role"] for turn in good["ok"]["messages"]], ["user", "assistant"])
        self.assertEqual((bad["failure"]["class"], bad["failure"]["code"]), ("reply", "reply.no-pddl"))
        role, asked = host.requests[0]
        self.assertEqual((role, asked["sampling"], host.left_over), ("writer", {"n": 2}, 0))
        with self.assertRaisesRegex(pp.Failure, "no further reply"):
            call(create(Writer), "translate", host, request=request)

    def test_the_last_complete_definition_counts(self):
        text = "(define (domain a)) and (define (domain b) (:x)) and (define (domain c"
        self.assertEqual(pp.extract_pddl(text, "domain"), "(define (domain b) (:x))")
        with self.assertRaises(pp.Failure):
            pp.extract_pddl(text, "problem")

    def test_a_planner_states_its_plans(self):
        outcome = call(create(Steps), "plan", request={"domain": "", "problem": "", "k": 1})
        self.assertEqual(pp.best_plan(outcome)["steps"], ["(a)"])
        self.assertEqual(outcome["statistics"], {"expanded": 3})

    def test_an_environment_follows_from_single_steps(self):
        plugin = create(Counter)
        spec = {"lengths": [5] * 20, "seed": 7}
        walks = call(plugin, "walks", task={}, spec=spec)["walks"]
        self.assertEqual(walks, call(plugin, "walks", task={}, spec=spec)["walks"])
        self.assertNotEqual(walks, call(plugin, "walks", task={}, spec={**spec, "seed": 8})["walks"])
        done = call(plugin, "execute", task={}, sequences={"sequences": walks})["executions"]
        self.assertTrue(all(one == {"executed": 5} for one in done))
        self.assertEqual(call(plugin, "validate", task={}, plan={"steps": ["(up)", "(up)"]})["valid"], True)
        verdict = call(plugin, "validate", task={}, plan={"steps": ["(up)", "(down)", "(down)"]})
        self.assertEqual(verdict, {"valid": False, "executed": 2, "reasons": ["(down) at 0"]})
        with self.assertRaisesRegex(pp.Failure, "step 1 of the sequence"):
            call(plugin, "describe-state", task={}, query={"actions": ["(down)"]})
        with self.assertRaisesRegex(pp.Failure, "no method `fly`"):
            call(plugin, "fly", task={})

    def test_coverage_guided_walks_turn_to_what_was_executed_least(self):
        def downs(policy):
            spec = {"lengths": [1] * 10 + [4] * 200, "seed": 3, "policy": policy}
            walks = call(create(Counter), "walks", task={}, spec=spec)["walks"]
            return sum(walk.count("(down)") for walk in walks)

        self.assertGreater(downs("coverage-guided"), downs("uniform"))

    def test_walks_end_when_the_run_is_interrupted(self):
        host = TestHost()
        host.cancel()
        with self.assertRaises(pp.Failure) as caught:
            call(create(Counter), "walks", host, task={}, spec={"lengths": [5]})
        self.assertEqual(caught.exception.failure_class, "cancelled")

    def test_a_verifier_asks_environment_and_planner(self):
        class Asks(pp.Verifier):
            def check(self, host, task, candidate):
                valid = host.environment("validate", steps=["(up)", "(up)"])["valid"]
                plan = pp.best_plan(host.plan("plan", "(define ...)", "(define ...)"))
                host.progress(1, 2, "asking")
                host.log("asked")
                return pp.accepted(metrics={"valid": int(valid), "steps": len(plan["steps"])})

        host = TestHost(environment=create(Counter), planners={"plan": create(Steps)}, remaining_ms=60_000)
        result = verify(create(Asks), candidate(), host=host)[0]
        self.assertEqual(result["metrics"], {"valid": 1, "steps": 1})
        self.assertEqual((host.progress_reports, host.logs), ([(1, 2, "asking")], [("info", "asked")]))
        self.assertTrue(0 < host.remaining_ms <= 60_000)

    def test_a_question_that_the_kind_may_not_ask_is_refused(self):
        class Curious(pp.Provider):
            def complete(self, host, request):
                return host.complete("writer", "what now?")

        with self.assertRaises(pp.Failure) as caught:
            call(create(Curious), "complete", request={"messages": []})
        self.assertEqual(caught.exception.code, "host.forbidden")


if __name__ == "__main__":
    unittest.main()
