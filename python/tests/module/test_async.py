"""Calls that a coroutine awaits."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import CancelledError
from contextvars import copy_context
from pathlib import Path

import pytest
from goats import DOMAIN, POINTS, PROBLEM, TEXT, Reader

import planforge as pf
from planforge import _async, _native
from planforge._models import choose


def large(places):
    """A task whose optimal plan takes long to find: parcels that a truck with one place brings to places in a circle."""
    domain = """(define (domain depots) (:requirements :strips :typing) (:types place parcel)
      (:predicates (road ?a ?b - place) (truck ?a - place) (at ?p - parcel ?a - place) (in ?p - parcel) (free))
      (:action drive :parameters (?a ?b - place) :precondition (and (truck ?a) (road ?a ?b)) :effect (and (truck ?b) (not (truck ?a))))
      (:action load :parameters (?p - parcel ?a - place) :precondition (and (truck ?a) (at ?p ?a) (free))
        :effect (and (in ?p) (not (at ?p ?a)) (not (free))))
      (:action unload :parameters (?p - parcel ?a - place) :precondition (and (truck ?a) (in ?p))
        :effect (and (at ?p ?a) (free) (not (in ?p)))))"""
    names = range(places)
    roads = " ".join(f"(road a{n} a{(n + 1) % places}) (road a{(n + 1) % places} a{n})" for n in names)
    start = " ".join(f"(at p{n} a{n})" for n in names)
    goal = " ".join(f"(at p{n} a{(n * 7 + 3) % places})" for n in names)
    objects = f"{' '.join(f'a{n}' for n in names)} - place {' '.join(f'p{n}' for n in names)} - parcel"
    return domain, (
        f"(define (problem circle) (:domain depots) (:objects {objects})"
        f" (:init (truck a0) (free) {roads} {start}) (:goal (and {goal})))"
    )


def test_coroutines_return_what_the_functions_return():
    async def main():
        task = pf.read(DOMAIN, PROBLEM)
        plan, found, answer = await asyncio.gather(
            task.aplan(optimal=True), task.asearch(k=2), pf.asolve(TEXT, model=Reader())
        )
        assert plan.steps == task.plan(optimal=True).steps and len(found.plans) == 2
        assert answer.end == "planned" and task.validate(answer.plan)
        with pytest.raises(pf.NoPlan):
            await task.aplan(max_nodes=1, optimal=True)

    asyncio.run(main())


def test_the_loop_goes_on_while_a_search_works():
    async def main():
        ticks = 0
        search = asyncio.create_task(pf.read(*large(13)).asearch(optimal=True, time_limit=1))
        while not search.done():
            await asyncio.sleep(0.02)
            ticks += 1
        assert ticks > 5 and (await search).limit == "time"

    asyncio.run(main())


def test_a_cancelled_task_ends_its_search(caplog):
    async def main():
        events = []
        task = pf.read(*large(13), context=pf.Context(on_event=events.append))
        search = asyncio.create_task(task.aplan(optimal=True))
        while not events:
            await asyncio.sleep(0.01)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert events[-1]["kind"] == "work" and events[-1]["ended"]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(task.aplan(optimal=True), 0.2)

    asyncio.run(main())
    assert caplog.messages == [], "no exception is left without a receiver"


def test_better_plans_come_while_the_search_goes_on():
    task = pf.read(*large(10))
    with task.plans(max_nodes=20_000) as plans:
        found = [*plans]
        result = plans.result
    costs = [plan.cost for plan in found]
    assert len(costs) > 1 and costs == sorted(set(costs), reverse=True)
    assert all(task.validate(plan) and plan.task is task for plan in found)
    assert result.plans[0].steps == found[-1].steps and result.data == plans.result.data
    assert result.plans[0].steps == task.plan(max_nodes=20_000).steps


def test_an_iterator_that_is_closed_ends_its_search():
    events = []
    task = pf.read(*large(13), context=pf.Context(on_event=events.append))
    with task.plans(time_limit=3600) as plans:
        first = next(plans)
    assert events[-1]["kind"] == "work" and events[-1]["ended"]
    assert [*plans] == [] and plans.result.plans[0].cost <= first.cost
    with task.plans() as plans:
        pass
    with pytest.raises(CancelledError):
        plans.result
    with pytest.raises(pf.UsageError):
        task.plans(time_limit=0)


def test_a_program_ends_without_its_search():
    script = """import sys
sys.path.insert(0, sys.argv[1])
from test_async import large
import planforge
plans = planforge.read(*large(13)).plans(time_limit=3600)
print(len(next(plans)) > 0)"""
    here = str(Path(__file__).parent)
    ended = subprocess.run([sys.executable, "-c", script, here], capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.returncode) == ("True\n", 0), ended.stderr


def test_an_exception_ends_an_iterator():
    task = pf.read(*large(6), context=pf.Context(on_event=lambda event: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        [*task.plans()]


def test_coroutine_functions_are_models_and_answer_questions():
    reader, asked = Reader(POINTS), []

    async def model(messages, n, temperature, seed):
        await asyncio.sleep(0.001)
        return reader.complete(messages, n=n, temperature=temperature, seed=seed)

    async def ask(question):
        await asyncio.sleep(0.001)
        asked.append(question)
        return 1 if "yes" in question.choices[0] else 2

    answer = asyncio.run(pf.asolve(TEXT, model=model, ask=ask))
    assert len(answer.plan) == 5 and len(asked) == 1
    with pytest.raises(pf.ModelError, match="`asolve`, `arun` and `aresume`"):
        pf.solve(TEXT, model=model)


def test_a_cancelled_run_is_resumed_and_pays_nothing_twice(root):
    garden = root / "examples/suites/garden"
    requests = []

    class Model:
        name = "gardener"

        async def complete(self, messages):
            requests.append(messages)
            if len(requests) == 2:
                await asyncio.sleep(3600)
            return f"```pddl\n{(garden / 'p01.pddl').read_text()}\n```"

    async def main():
        run = asyncio.create_task(pf.arun(root / "configs/pipelines/llm-p.toml", suites=garden, model=Model()))
        while len(requests) < 2:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        (folder,) = (one for one in Path("runs").iterdir() if one.is_dir())
        run = await pf.aresume(folder, model=Model())
        assert run.state == "finished" and len(run.tasks) == 4
        assert len(requests) == 5

    asyncio.run(main())


def test_an_exception_after_a_cancellation_is_not_a_failure_of_the_model():
    def model(messages):
        raise TimeoutError("slow")

    def answer():
        cancellation = _native.NativeCancellation()
        _async._current.set((cancellation, None))
        chosen = choose(model)
        failures = [json.loads(chosen.complete('{"messages": []}'))["failure"]]
        cancellation.cancel()
        return [*failures, json.loads(chosen.complete('{"messages": []}'))["failure"]]

    failures = copy_context().run(answer)
    assert [one["class"] for one in failures] == ["provider", "cancelled"]


def test_an_exception_of_a_model_is_the_cause():
    async def model(messages):
        raise TimeoutError("slow")

    async def main():
        with pytest.raises(pf.ModelError) as raised:
            await pf.asolve(TEXT, model=model)
        assert isinstance(raised.value.__cause__, TimeoutError)

    asyncio.run(main())
