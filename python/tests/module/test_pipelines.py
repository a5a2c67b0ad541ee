import pytest

import planforge as pf


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


def test_a_model_that_fails_is_the_verdict_of_the_task(root):
    run = pf.run(
        root / "configs/pipelines/llm-p.toml", tasks=suite(root, "parcels") / "p01", model=lambda messages: None
    )
    (task,) = run.tasks
    assert task.verdict == "failed" and "NoneType" in task.message


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
