import _thread
import signal
import threading
from pathlib import Path

import pytest

import planforge as pf
from planforge._context import settings
from planforge._pipelines import _verdict


def suite(root, name):
    return root / "examples/suites" / name


def test_a_recorded_run_is_replayed(root):
    run = pf.run(
        root / "configs/pipelines/llm-p.toml",
        suites=[suite(root, "parcels"), suite(root, "garden")],
        replay=root / "examples/demo/llm-p.jsonl",
        folder="runs",
    )
    assert run.state == "finished" and len(run.tasks) == 8
    verdicts = [task.verdict for task in run.tasks]
    assert verdicts.count("accepted") == 2 and set(verdicts) <= {"accepted", "rejected", "unusable", "unsolvable"}
    accepted = next(task for task in run.tasks if task.verdict == "accepted")
    assert accepted.plan and accepted.problem.startswith("(define")
    assert all(task.message for task in run.tasks if task.verdict == "rejected")
    assert run.folder.is_dir() and run.folder.parent.name == "runs"
    assert pf.resume(run.folder).state == "finished"


def test_the_steps_of_a_task_with_time_have_their_times():
    steps = [("(rest)", {"start": 0.0, "duration": 30.0}), ("(blink)", {"start": 5e-05})]
    plan = {"steps": [step for step, _ in steps], "times": [times for _, times in steps]}
    found = _verdict({"task": "p01", "candidate": {"plan": {"plans": [plan]}}})
    assert found.plan == ("0.000: (rest) [30.000]", "0.00005: (blink)")
    assert _verdict({"task": "p01", "candidate": {"plan": {"plans": [{"steps": ["(rest)"]}]}}}).plan == ("(rest)",)


def test_a_python_model_answers_a_run_and_its_events_are_seen(root):
    problem = (suite(root, "parcels") / "p01.pddl").read_text()
    events = []
    run = pf.run(
        root / "configs/pipelines/llm-p.toml",
        tasks=suite(root, "parcels") / "p01",
        model=lambda messages: f"```pddl\n{problem}\n```",
        context=pf.Context(on_event=events.append),
    )
    assert [task.verdict for task in run.tasks] == ["accepted"]
    kinds = {event["kind"] for event in events}
    assert {"run-started", "recorded", "request", "run-ended"} <= kinds
    assert any(event.get("record", {}).get("event") == "stage-started" for event in events)


def test_the_events_of_a_run_are_an_iterator(root):
    problem = (suite(root, "parcels") / "p01.pddl").read_text()
    events = pf.events(
        pf.run,
        root / "configs/pipelines/llm-p.toml",
        tasks=suite(root, "parcels") / "p01",
        model=lambda messages: f"```pddl\n{problem}\n```",
        context=pf.Context(allow_commands=True),
    )
    first, *rest = events
    assert first["kind"] == "run-started" and rest[-1]["kind"] == "run-ended"
    assert events.result.tasks[0].verdict == "accepted"


def test_a_model_that_fails_is_the_verdict_of_the_task(root):
    run = pf.run(
        root / "configs/pipelines/llm-p.toml", tasks=suite(root, "parcels") / "p01", model=lambda messages: None
    )
    (task,) = run.tasks
    assert task.verdict == "failed" and "NoneType" in task.message


class Parallel:
    """A model that holds requests until as many are there as it takes at a time."""

    name = "parallel"

    def __init__(self, root, parallel):
        self.suite, self.parallel = suite(root, "garden"), parallel
        self.together = threading.Barrier(parallel)
        self.here = self.most = 0
        self.lock = threading.Lock()

    def complete(self, messages):
        with self.lock:
            self.here += 1
            self.most = max(self.most, self.here)
        self.together.wait(60)
        with self.lock:
            self.here -= 1
        return f"```pddl\n{(self.suite / 'p01.pddl').read_text()}\n```"


def test_a_model_gets_as_many_requests_at_a_time_as_it_takes(root):
    model = Parallel(root, 2)
    run = pf.run(root / "configs/pipelines/llm-p.toml", suites=model.suite, model=model, jobs=4)
    assert len(run.tasks) == 4 and model.most == 2
    assert pf.run(root / "configs/pipelines/llm-p.toml", suites=model.suite, model=Parallel(root, 1), jobs=4).tasks
    model.parallel = 0
    with pytest.raises(pf.UsageError, match="`parallel` of the model is 0"):
        pf.run(root / "configs/pipelines/llm-p.toml", suites=model.suite, model=model)


def test_an_interrupt_leaves_parallel_requests_alone(root):
    released = threading.Event()

    def model(messages):
        _thread.interrupt_main()
        released.wait(60)
        return "late"

    model.parallel = 2
    # A shell's background job starts with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            pf.run(root / "configs/pipelines/llm-p.toml", suites=suite(root, "garden"), model=model, jobs=2)
    finally:
        signal.signal(signal.SIGINT, before)
        released.set()


def test_a_pipeline_that_needs_consent_asks_for_it(root):
    asked = []

    def consent(text):
        asked.append(text)
        return False

    with pytest.raises(pf.Error) as raised:
        pf.run(
            root / "configs/pipelines/llm-p.toml",
            tasks=suite(root, "parcels") / "p01",
            set={"llm.main.base_url": "https://models.example.org/v1", "llm.main.api_key_env": "A_KEY"},
            context=pf.Context(consent=consent, variables={"A_KEY": "0123456789"}),
        )
    assert raised.value.code == "cli.consent"
    assert len(asked) == 1 and "models.example.org" in asked[0] and "A_KEY" in asked[0]


@pytest.mark.parametrize("answer", ["n", 1, None])
def test_without_true_there_is_no_consent_and_nothing_is_sent(root, answer):
    with pytest.raises(TypeError, match="`consent` returned an object of the type"):
        pf.run(
            root / "configs/pipelines/llm-p.toml",
            tasks=suite(root, "parcels") / "p01",
            set={"llm.main.base_url": "https://models.example.org/v1", "llm.main.api_key_env": "A_KEY"},
            context=pf.Context(consent=lambda text: answer, variables={"A_KEY": "0123456789"}),
        )
    assert not Path("runs").exists(), "no run is started"


def test_a_run_is_resumed_with_the_model_that_it_was_started_with(root):
    class Broken:
        name = "broken"

        def complete(self, messages):
            raise OSError("down")

    run = pf.run(root / "configs/pipelines/llm-p.toml", tasks=suite(root, "parcels") / "p01", model=Broken())
    with pytest.raises(pf.UsageError, match='started with the model "broken"'):
        pf.resume(run.folder, model=lambda messages: pytest.fail("it is not asked"))
    assert pf.resume(run.folder, model=Broken()).tasks[0].verdict == "failed"


def test_a_str_is_one_setting_one_host_and_one_folder():
    assert settings("seed=1") == ["seed=1"]
    context = pf.Context(plugins="./plugins", allow_hosts="http://models.example.org", variables={})
    surroundings = context.surroundings()
    assert surroundings["plugins"][0] == "./plugins" and surroundings["allow_hosts"] == ["http://models.example.org"]
    assert "" not in pf.Context(plugins=[""], variables={}).surroundings()["plugins"]


def test_values_of_settings_are_written_as_toml():
    values = {"x": {"rates": [0.5, {"a b": 'say "\x7f"'}], "on": True}, "y": (1, -2), "z": float("inf")}
    assert settings(values) == ['x={"rates" = [0.5, {"a b" = "say \\"\\u007f\\""}], "on" = true}', "y=[1, -2]", "z=inf"]
    for wrong in (None, [None], {"k": object()}, {1: 2}, "\ud800"):
        with pytest.raises(pf.UsageError, match="`x` in `set`"):
            settings({"x": wrong})


def test_mistakes_of_a_pipeline_are_findings(root, tmp_path):
    pipeline = tmp_path / "wrong.toml"
    pipeline.write_text((root / "configs/pipelines/llm-p.toml").read_text().replace("planner-classical", "planner-clasical"))
    verdict = pf.check(pipeline)
    assert not verdict and any("planner-clasical" in one.message for one in verdict.diagnostics)
    with pytest.raises(pf.InputError) as raised:
        pf.run(pipeline, tasks=suite(root, "parcels") / "p01")
    assert (raised.value.status, raised.value.place.file) == (32, str(pipeline))
    assert pf.check(root / "configs/pipelines/llm-p.toml")


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"model": ["a:b", "c:d"]}, {"tasks": "nowhere/p01"}])
def test_requests_that_cannot_be_run(root, wrong):
    with pytest.raises(pf.Error) as raised:
        pf.run(root / "configs/pipelines/llm-p.toml", **{"tasks": suite(root, "parcels") / "p01", **wrong})
    assert raised.value.status in (30, 31)


def test_an_evaluation_is_a_frame_with_a_row_for_each_trial(root):
    pandas = pytest.importorskip("pandas")
    request = {
        "suites": suite(root, "garden"),
        "pipelines": root / "configs/pipelines/llm-p.toml",
        "seeds": [1, 2],
        "set": {"llm.main.use": "provider-noisy-oracle", "llm.main.model": "oracle", "llm.main.suites": [str(suite(root, "garden"))]},
        "tasks": 2,
        "out": "evaluation",
    }
    evaluation = pf.evaluate(**request)
    assert (evaluation.cells, evaluation.open_cells, evaluation.failed_tasks) == (2, 0, 0)
    frame = evaluation.frame("tasks")
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 4 and set(frame["seed"]) == {1, 2}
    assert len(evaluation.frame("cells")) == 2
    with pytest.raises(pf.UsageError, match="no table") as raised:
        evaluation.frame("trials")
    assert "`tasks`" in raised.value.help
    with pytest.raises(pf.Error):
        pf.evaluate(**request)
    assert pf.evaluate(out="evaluation", resume=True).cells == 2


def test_a_method_is_recommended_as_by_the_command(root):
    oracle = {"llm.main.use": "provider-noisy-oracle", "llm.main.model": "oracle", "llm.main.suites": [str(suite(root, "garden"))]}
    pipeline = root / "configs/pipelines/llm-p.toml"
    evaluation = pf.evaluate(suites=suite(root, "garden"), pipelines=pipeline, seeds=[1], set=oracle, tasks=2, out="evaluation")
    found = pf.recommend(evaluation)
    assert (found.answer, found.use, found.data["use"]) == ("use", "llm-p", "llm-p")
    assert found.text.startswith("use llm-p: 2 of 2 right") and "The model is simulated" in found.text
    assert "2 of 2 right" in found._repr_html_()
    assert pf.recommend("evaluation", need=90).use == found.use
    poor = pf.recommend("evaluation", budget_usd=0.01)
    assert (poor.answer, poor.use) == ("money-unknown", None)
    for wrong in ({"need": 101}, {"budget_usd": 0}):
        with pytest.raises(pf.UsageError):
            pf.recommend(evaluation, **wrong)
    with pytest.raises(pf.UsageError, match="no results of an evaluation"):
        pf.recommend(".")
