import pickle
import threading
from pathlib import Path

import pytest
from goats import DOMAIN, OTHER_DOMAIN, PLAN, PROBLEM

import planforge as pf

UNSOLVABLE = PROBLEM.replace("(boat west) ; [2]", "")


@pytest.fixture(scope="module")
def task():
    return pf.read(DOMAIN, PROBLEM)


def test_a_task_is_planned_and_the_plan_is_valid(task):
    plan = task.plan(optimal=True, time_limit=60)
    assert (len(plan), plan.cost, plan.bound, plan.optimal) == (7, 7.0, 7.0, True)
    assert all(step.startswith("(") for step in plan)
    verdict = task.validate(plan)
    assert verdict and verdict.decision == "accepted" and verdict.cost == 7
    assert "load" in plan.words() and len(plan.words().splitlines()) >= 7


def test_first_and_several_plans(task):
    assert task.plan(first=True).task is task
    found = task.search(k=3)
    assert [plan.optimal for plan in found.plans] == [True, False, False]
    assert len({plan.steps for plan in found.plans}) == 3


def test_a_plan_is_a_text_a_path_steps_or_a_plan(task, tmp_path):
    file = tmp_path / "p.plan"
    file.write_text(PLAN)
    for plan in (PLAN, file, str(file), PLAN.splitlines(), iter(PLAN.splitlines())):
        assert task.validate(plan).valid, plan


def test_a_wrong_plan_is_rejected_with_its_step_and_place(task):
    verdict = task.validate("(load lotte west)\n(unload lotte east)\n")
    assert not verdict and verdict.decision == "rejected"
    assert verdict.data["failing_step"] == {"index": 1, "step": "(unload lotte east)"}
    found = [one for one in verdict.diagnostics if one.severity == "error"]
    assert found[0].place == pf.Place("plan", 2, 1)
    assert task.validate("").decision == "rejected"
    assert task.validate("(load lotte").decision != "accepted"


def test_texts_and_files_are_the_same(tmp_path):
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM)):
        (tmp_path / name).write_text(text)
    domain, problem = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    assert pf.read(domain, str(problem)).plan(first=True) == pf.read(DOMAIN, problem).plan(first=True)


def test_a_task_is_that_of_the_texts_that_were_read(tmp_path, monkeypatch):
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM)):
        Path(name).write_text(text)
    Path("sentences.toml").write_text('[predicates]\naboard = { yes = "{1} is in the boat.", no = "{1} is ashore." }\n')
    task = pf.read("domain.pddl", "problem.pddl")
    plan = task.plan(optimal=True)
    words = plan.words()
    assert "lotte is in the boat" in words.lower(), words
    Path("domain.pddl").write_text(OTHER_DOMAIN)
    Path("problem.pddl").unlink()
    monkeypatch.chdir(tmp_path)
    again = task.plan(optimal=True)
    assert again == plan and len(again) == 7 and task.validate(again) and again.words() == words
    assert pf.compare(task, pf.read(DOMAIN, PROBLEM)).equal
    assert repr(task) == "<Task domain.pddl, problem.pddl>"


def test_an_unsolvable_task_says_why():
    task = pf.read(DOMAIN, UNSOLVABLE)
    with pytest.raises(pf.NoPlan) as raised:
        task.plan()
    assert (raised.value.code, raised.value.outcome) == ("python.unsolvable", "proven-unsolvable")
    assert task.why_unsolvable() == list(raised.value.explanation) != []
    assert pf.read(DOMAIN, PROBLEM).why_unsolvable() is None


def test_a_limit_is_not_a_proof(task):
    with pytest.raises(pf.NoPlan) as raised:
        task.plan(optimal=True, max_nodes=1)
    assert (raised.value.code, raised.value.outcome) == ("python.no-plan", "limit-reached")


def test_states_are_sampled_from_a_seed_and_can_be_reached(task):
    states = task.states().sample(50, seed=7)
    assert len(states) == 50 and states == task.states().sample(50, seed=7) != task.states().sample(50, seed=8)
    assert len({state.atoms for state in states}) > 5
    for state in states[:10]:
        failing = task.validate(state.steps).data.get("failing_step")
        assert failing is None and 0 < len(state.steps) <= 20
    assert states[-1] == list(states)[49] and len(states[40:]) == 10
    with pytest.raises(IndexError):
        states[50]
    assert any(state.is_goal for state in task.states().sample(400, longest=40))


def test_samples_of_a_task_have_the_same_facts_and_may_be_empty(task):
    none, some = task.states().sample(0), task.states().sample(3)
    assert list(none) == [] and none.facts == some.facts == tuple(sorted(some.facts))
    assert none.values.shape == (0, len(some.facts)) and none.walks.shape == (0, 0)
    stuck = pf.read(DOMAIN, UNSOLVABLE).states().sample(3)
    assert (len(stuck), stuck.actions, stuck.goals.shape) == (0, (), (0,))


def test_samples_with_other_goals_differ(task):
    other = pf.read(DOMAIN, PROBLEM.replace("(on mia east) ; [4]", ""))
    states, others = (one.states().sample(50, seed=7) for one in (task, other))
    assert [one.steps for one in states] == [one.steps for one in others]
    assert states == task.states().sample(50, seed=7) != others


def test_states_are_arrays_that_share_their_memory(task):
    numpy = pytest.importorskip("numpy")
    states = task.states().sample(200, longest=12, seed=5)
    values, walks, goals = map(numpy.asarray, (states.values, states.walks, states.goals))
    assert (values.dtype, values.shape) == (bool, (200, len(states.facts)))
    assert (walks.dtype, walks.shape) == ("int32", (200, 12))
    for array, given in ((values, states.values), (walks, states.walks), (goals, states.goals)):
        assert numpy.shares_memory(array, numpy.asarray(given)) and not array.flags.writeable
    for row, state in enumerate(states):
        assert state.atoms == tuple(numpy.array(states.facts)[values[row]])
        assert state.steps == tuple(states.actions[step] for step in walks[row] if step >= 0)
        assert state.is_goal == goals[row]


def test_a_verdict_is_compared_and_pickled_by_what_it_says(task):
    plan = task.plan(first=True)
    verdict, again = task.validate(plan), task.validate(str(plan))
    assert verdict == again != task.validate("") and pickle.loads(pickle.dumps(verdict)) == again
    assert verdict.data["steps"] == len(plan) and "accepted" in repr(verdict)


def test_texts_with_mistakes_raise_all_of_them_with_code_and_place():
    with pytest.raises(pf.InputError) as raised:
        pf.read(DOMAIN.replace("(aboard ?g - goat)", "(aboard ?g - gaot)"), PROBLEM.replace("(empty) ;", "(emty) ;"))
    error = raised.value
    assert {one.place.file for one in error.diagnostics if one.severity == "error"} == {"domain", "problem"}
    assert error.place == pf.Place("domain", 8, 18)
    assert error.code == next(one.code for one in error.diagnostics if one.severity == "error")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.code, again.diagnostics) == (pf.InputError, error.code, error.diagnostics)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(pf.InputError) as raised:
        pf.read("nowhere.pddl", tmp_path / "p.pddl")
    assert raised.value.status == 31 and "nowhere.pddl" in str(raised.value)


@pytest.mark.parametrize("wrong", [None, 7, b"(define)", ["(define)"]])
def test_what_is_no_text_and_no_path_is_a_usage_error(wrong):
    with pytest.raises(pf.UsageError):
        pf.read(wrong, PROBLEM)


def test_a_path_that_is_not_utf8_is_read(tmp_path):
    import os

    file = os.fsdecode(os.fsencode(tmp_path) + b"/d\xff.pddl")
    Path(file).write_text(DOMAIN)
    assert pf.read(file, PROBLEM).plan(first=True)
    with pytest.raises(pf.InputError) as raised:
        pf.read(file + "x", PROBLEM)
    assert raised.value.status == 31


def test_half_of_a_surrogate_pair_is_an_input_error():
    with pytest.raises(pf.InputError) as raised:
        pf.check(DOMAIN + "; \ud800")
    assert raised.value.code == "pddl.invalid-utf8"


def test_check_returns_findings_and_raises_nothing():
    assert pf.check(DOMAIN) and pf.check(DOMAIN, PROBLEM)
    verdict = pf.check(DOMAIN.replace("(boat ?a)", "(boot ?a)"))
    assert verdict.decision == "rejected"
    assert [one.severity for one in verdict.diagnostics].count("error") >= 1


def test_format_keeps_comments(tmp_path):
    formatted = pf.format("(define (domain d)(:predicates (p)) ; why\n)")
    assert "; why" in formatted and pf.format(formatted) == formatted
    file = tmp_path / "d.pddl"
    file.write_text("(define (domain d)(:predicates (p)))")
    assert pf.format(file) != file.read_text() == "(define (domain d)(:predicates (p)))"
    with pytest.raises(pf.InputError):
        pf.format("(define (domain d)")


def test_domains_are_compared_on_problems():
    compared = pf.compare(DOMAIN, OTHER_DOMAIN, problems=PROBLEM)
    assert not compared and compared.decision == "different"
    assert (compared.difference.kind, compared.difference.by) == ("refused", "first")
    assert len(compared.difference.steps) == 2 and compared.difference.conditions
    assert pf.compare(DOMAIN, DOMAIN, problems=[PROBLEM, PROBLEM])
    assert pf.compare(DOMAIN, OTHER_DOMAIN, problems=PROBLEM, max_depth=1).decision == "undecided"
    with pytest.raises(pf.UsageError):
        pf.compare(DOMAIN, OTHER_DOMAIN)


def test_tasks_are_compared_with_walks_and_sentences(task):
    other = pf.read(OTHER_DOMAIN, PROBLEM)
    compared = pf.compare(task, other)
    assert compared.decision == "different" and compared.difference.steps
    assert 0 < compared.walk_score < 1 and compared.in_words
    assert pf.compare(task, task).walk_score == 1
    with pytest.raises(pf.UsageError):
        pf.compare(task, DOMAIN)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_number_of_seconds(task, seconds):
    with pytest.raises(pf.UsageError):
        task.plan(time_limit=seconds)
    with pytest.raises(pf.UsageError):
        task.validate(PLAN, time_limit=seconds)


def test_options_that_contradict_each_other(task):
    with pytest.raises(pf.UsageError):
        task.search(first=True, optimal=True)
    for option in ({"quality": 2.0}, {"semantics": "zzz"}):
        with pytest.raises(pf.UsageError, match="go with `k`"):
            task.search(**option)


def test_threads_share_a_task():
    task = pf.read(DOMAIN, PROBLEM)
    verdicts, samples = [], []

    def work():
        samples.append(task.states().sample(20, seed=1))
        verdicts.extend(task.validate(PLAN).valid for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == [True] * 800 and samples == samples[:1] * 4


def test_progress_is_an_event_and_an_exception_in_the_receiver_ends_the_call():
    events = []
    pf.read(DOMAIN, PROBLEM, context=pf.Context(on_event=events.append)).plan(max_nodes=10_000)
    assert any(event["kind"] == "work" and event["unit"] == "nodes" for event in events)

    def receive(event):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        pf.read(DOMAIN, PROBLEM, context=pf.Context(on_event=receive)).plan(max_nodes=10_000)
