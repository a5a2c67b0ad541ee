"""Plugins that are classes, in the interpreter."""

import asyncio
import importlib.util
import os
import threading

import pytest
from planforge_plugin import Planner, Verifier, accepted, plan_found, rejected

import planforge as pf
from planforge._plugins import described

PIPELINE = "examples/plugins/near-cheapest/pipeline.toml"


def plugin(root, folder, name):
    """A class of an example."""
    file = root / "examples/plugins" / folder / f"{folder.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def run(root, *plugins, pipeline=PIPELINE, tasks="p0[12]", **more):
    context = pf.Context(plugins=plugins, **more)
    parcels = root / "examples/suites/parcels"
    return pf.run(root / pipeline, tasks=[parcels / "p01", parcels / "p02"], context=context)


def assessments(run):
    """What the run recorded, without times and processes."""
    return [(task["task"], task["verdict"], task["candidate"].get("assessments")) for task in run.data["tasks"]]


def test_a_class_does_in_the_interpreter_what_its_program_does(root):
    near = plugin(root, "near-cheapest", "NearCheapest")
    inside, outside = run(root, near), run(root, root / "examples/plugins/near-cheapest", allow_commands=True)
    assert [task.verdict for task in inside.tasks] == ["accepted", "accepted"]
    assert assessments(inside) == assessments(outside)
    replayed = pf.resume(inside.folder, context=pf.Context(plugins=[near]))
    assert assessments(replayed) == assessments(inside)


class Mine(Verifier):
    """Rejects plans that begin with a drive."""

    id = "near-cheapest"
    about = "Judges the first step"
    threads = set()

    def check(self, host, task, candidate):
        self.threads.add(threading.current_thread())
        assert not host.cancelled
        host.log("looked at a plan")
        first = candidate["plan"]["plans"][0]["steps"][0]
        return rejected("it begins with a drive") if first.startswith("(drive") else accepted("it begins well")


def test_a_class_of_a_notebook_has_its_id_and_takes_the_place_of_another(root):
    found = run(root, Mine, root / "examples/plugins/near-cheapest")
    assert {task.verdict for task in found.tasks} <= {"accepted", "rejected"}
    assert any("drive" in task.message for task in found.tasks) and Mine.threads


class Broken(Mine):
    def check(self, host, task, candidate):
        raise LookupError("no such shelf")


class Wrong(Mine):
    def check(self, host, task, candidate):
        return "accepted"


@pytest.mark.parametrize("wrong", [Broken, Wrong])
def test_a_class_that_breaks_is_a_failure_and_no_verdict(root, wrong):
    found = run(root, wrong)
    assert {task.verdict for task in found.tasks} == {"failed"}
    assert wrong is Wrong or "no such shelf" in found.tasks[0].message


def test_a_call_ends_without_a_class_that_ignores_its_cancellation(root):
    began, end, returned = threading.Event(), threading.Event(), threading.Event()

    class Deaf(Mine):
        def check(self, host, task, candidate):
            began.set()
            end.wait(120)
            returned.set()
            return accepted("late")

    async def cancel():
        loop = asyncio.get_running_loop()
        parcels = root / "examples/suites/parcels"
        work = asyncio.create_task(pf.arun(root / PIPELINE, tasks=parcels / "p01", context=pf.Context(plugins=[Deaf])))
        await loop.run_in_executor(None, began.wait, 60)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancel())
    assert began.is_set() and not returned.is_set()
    end.set()


class Fixed(Planner):
    """Always the same plan."""

    id = "planner-fixed"

    def plan(self, host, request):
        return plan_found(["(drive oak fir)"])


def test_a_planner_is_a_class(root, tmp_path):
    text = (root / "configs/pipelines/llm-p.toml").read_text().replace('"planner-classical"', '"planner-fixed"')
    (tmp_path / "fixed.toml").write_text(text.replace('options = { search = "greedy" }\n', ""))
    problem = (root / "examples/suites/parcels/p01.pddl").read_text()
    context = pf.Context(plugins=[Fixed])
    assert pf.check(tmp_path / "fixed.toml", context=context)
    assert not pf.check(tmp_path / "fixed.toml")
    found = pf.run(
        tmp_path / "fixed.toml",
        tasks=root / "examples/suites/parcels/p01",
        model=lambda messages: f"```pddl\n{problem}\n```",
        context=context,
    )
    assert (found.tasks[0].verdict, found.tasks[0].plan) == ("rejected", ("(drive oak fir)",))


def test_a_translator_of_the_interpreter_asks_the_model_of_the_call(root, tmp_path):
    ask_again = plugin(root, "ask-again", "AskAgain")
    text = (root / "configs/pipelines/llm-p.toml").read_text().replace('"translator-direct"', '"ask-again"')
    (tmp_path / "again.toml").write_text(text.replace('options = { mode = "problem" }', 'options = { what = "problem" }'))
    problem = (root / "examples/suites/parcels/p01.pddl").read_text()
    asked = []

    def model(messages):
        asked.append(messages)
        return "I need a moment." if len(asked) == 1 else f"```pddl\n{problem}\n```"

    found = pf.run(
        tmp_path / "again.toml",
        tasks=root / "examples/suites/parcels/p01",
        model=model,
        context=pf.Context(plugins=[ask_again]),
    )
    assert found.tasks[0].verdict == "accepted" and len(asked) == 2


def limited(most):
    class Limited(Verifier):
        id = "near-cheapest"
        limit = most

        @staticmethod
        def check(host, task, candidate):
            return accepted("short")

    return Limited


def test_the_record_of_a_class_has_its_bases_and_constants():
    class Nothing(Mine):
        pass

    class Other(Broken):
        pass

    one, same, other = (described(limited(most)) for most in (1, 1, 2))
    assert one["sha256"] == same["sha256"] != other["sha256"]
    assert one["origin"] == described(Nothing)["origin"] == described(Mine)["origin"] == __file__
    assert len({described(cls)["sha256"] for cls in (Mine, Broken)}) == 1, "the whole file is their code"


def test_two_classes_with_one_id_are_refused():
    with pytest.raises(pf.UsageError, match="two plugin classes have the id `near-cheapest`"):
        pf.Context(plugins=[Mine, Broken]).surroundings()
    assert len(pf.Context(plugins=[Mine, Mine, Fixed]).surroundings()["plugin_classes"]) == 2


def test_the_threads_of_a_class_end_with_its_connection():
    before = set(threading.enumerate())
    (source, to_program), (from_program, sink) = os.pipe(), os.pipe()
    described(Mine)["serve"](source, sink)
    with os.fdopen(to_program, "wb") as requests:
        requests.write(b'{"jsonrpc": "2.0", "id": 1, "method": "plugin/describe"}\n')
        requests.flush()
        assert os.read(from_program, 10)
        started = set(threading.enumerate()) - before
        assert len(started) == 2
    for thread in started:
        thread.join(60)
        assert not thread.is_alive()
    os.close(from_program)


def test_what_is_no_plugin_class_is_refused(root):
    class Nameless(Verifier):
        pass

    for wrong, message in ((Nameless, "has no id"), (int, "has no id"), (7, "not a str or a path")):
        with pytest.raises(pf.UsageError, match=message):
            run(root, wrong)
