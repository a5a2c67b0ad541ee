"""The engine of unified-planning. Runs where unified-planning is installed (`.ci/run` has a venv for it)."""

import itertools
import re
import threading
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
import unified_planning
from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines import ValidationResultStatus as Verdict
from unified_planning.engines.results import FailedValidationReason
from unified_planning.model.metrics import MinimizeActionCosts, MinimizeMakespan, MinimizeSequentialPlanLength
from unified_planning.plans import ActionInstance, PlanKind, SequentialPlan, TimeTriggeredPlan
from unified_planning.shortcuts import (
    GE,
    GT,
    AnytimePlanner,
    BoolType,
    ClosedTimeInterval,
    Div,
    DurativeAction,
    EndTiming,
    Fluent,
    GlobalStartTiming,
    InstantaneousAction,
    Not,
    Object,
    OneshotPlanner,
    PlanValidator,
    Problem,
    RealType,
    Replanner,
    StartTiming,
    UserType,
    get_environment,
)
from unified_planning.test.examples import get_example_problems

import planforge.up

get_environment().credits_stream = None
planforge.up.register()

EXAMPLES = get_example_problems()
Tile, Place = UserType("tile"), UserType("Place Type")


def puzzle(moves):
    """Tiles on three by three places, after moves of the gap."""
    on, empty, near = (
        Fluent("on", BoolType(), t=Tile, p=Place),
        Fluent("empty", BoolType(), p=Place),
        Fluent("near", BoolType(), a=Place, b=Place),
    )
    slide = InstantaneousAction("slide", t=Tile, a=Place, b=Place)
    tile, a, b = (slide.parameter(name) for name in "tab")
    for condition in (on(tile, a), empty(b), near(a, b)):
        slide.add_precondition(condition)
    for fluent, value in ((on(tile, a), False), (on(tile, b), True), (empty(b), False), (empty(a), True)):
        slide.add_effect(fluent, value)
    problem = Problem("puzzle")
    for fluent in (on, empty, near):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(slide)
    places = {at: Object(f"p{at[0]}{at[1]}", Place) for at in itertools.product(range(3), repeat=2)}
    tiles = {number: Object(f"t{number}", Tile) for number in range(1, 9)}
    problem.add_objects([*places.values(), *tiles.values()])
    for one, other in itertools.permutations(places, 2):
        if abs(one[0] - other[0]) + abs(one[1] - other[1]) == 1:
            problem.set_initial_value(near(places[one], places[other]), True)
    where = dict(enumerate(places))
    for number, tile in tiles.items():
        problem.add_goal(on(tile, places[where[number]]))
    board = {where[number]: number for number in range(9)}
    gap, seed = (0, 0), 1
    for _ in range(moves):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        step = ((0, 1), (1, 0), (0, -1), (-1, 0))[seed >> 16 & 3]
        to = gap[0] + step[0], gap[1] + step[1]
        if to in board:
            board[gap], board[to], gap = board[to], board[gap], to
    for at, number in board.items():
        problem.set_initial_value(on(tiles[number], places[at]) if number else empty(places[at]), True)
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    return problem


def trip(cost, *, default=None, cost_of_objects=False, environment=None):
    """A problem with names that PDDL does not have, in an environment of its own."""
    env = environment or unified_planning.environment.Environment()
    types, place = env.type_manager, env.type_manager.UserType("Place Type")
    at = Fluent("At Robot", types.BoolType(), p=place, environment=env)
    distance = Fluent("Distance!", types.RealType(), a=place, b=place, environment=env)
    go = InstantaneousAction("GO-now", f=place, t=place, _env=env)
    go.add_precondition(at(go.parameter("f")))
    go.add_effect(at(go.parameter("f")), False)
    go.add_effect(at(go.parameter("t")), True)
    home = InstantaneousAction("and", _env=env)
    problem = Problem("my trip", environment=env)
    problem.add_fluent(at, default_initial_value=False)
    problem.add_fluent(distance, default_initial_value=cost)
    places = [Object(name, place, environment=env) for name in ("A", "a", "1x", "define")]
    problem.add_objects(places)
    home.add_effect(at(places[0]), True)
    problem.add_actions([go, home])
    problem.set_initial_value(at(places[3]), True)
    problem.add_goal(at(places[1]))
    ends = (places[3], places[1]) if cost_of_objects else (go.parameter("f"), go.parameter("t"))
    problem.add_quality_metric(MinimizeActionCosts({go: distance(*ends)}, default, env))
    return problem


def solve(problem, engine="planforge", *, params=None, **arguments):
    planforge.up.register(problem.environment)
    problem.environment.credits_stream = None
    with problem.environment.factory.OneshotPlanner(name=engine, params=params) as planner:
        assert planner.supports(problem.kind)
        return planner.solve(problem, **arguments)


def judge(problem, plan, engine="planforge-val"):
    planforge.up.register(problem.environment)
    problem.environment.credits_stream = None
    with problem.environment.factory.PlanValidator(name=engine) as validator:
        return validator.validate(problem, plan)


def test_registered_twice_is_registered_once():
    planforge.up.register()
    engines = get_environment().factory.engines
    assert [name for name in engines if name.startswith("planforge")] == ["planforge", "planforge-opt", "planforge-val"]


def solvers():
    """The examples that each planner supports."""
    for engine in (planforge.up.Planforge, planforge.up.PlanforgeOptimal):
        yield from ((engine.NAME, name) for name, one in EXAMPLES.items() if engine.supports(one.problem.kind))


@pytest.mark.parametrize(("engine", "name"), [*solvers()])
def test_examples_are_solved_and_the_validator_of_unified_planning_agrees(engine, name):
    example = EXAMPLES[name]
    result = solve(example.problem, engine, timeout=60)
    has_time = example.problem.kind.has_continuous_time()
    if not example.solvable:
        assert (result.status, result.plan) == (Status.UNSOLVABLE_PROVEN, None)
        return
    has_optimum = engine == "planforge-opt" and example.problem.quality_metrics
    assert result.status == (Status.SOLVED_OPTIMALLY if has_optimum else Status.SOLVED_SATISFICING)
    if has_time:
        assert isinstance(result.plan, TimeTriggeredPlan) and len(result.plan.timed_actions) > 0
        assert judge(example.problem, result.plan, "up_time_triggered_validator").status == Verdict.VALID
        return
    theirs, ours = (judge(example.problem, result.plan, one) for one in ("sequential_plan_validator", "planforge"))
    assert theirs.status == ours.status == Verdict.VALID
    assert theirs.metric_evaluations == ours.metric_evaluations
    if has_optimum and example.optimum is not None:
        assert list(ours.metric_evaluations.values()) == [example.optimum]


def test_there_are_enough_examples_of_every_mode():
    kinds = [example.problem.kind for example in EXAMPLES.values()]
    assert sum(map(planforge.up.Planforge.supports, kinds)) >= 20
    assert sum(map(planforge.up.PlanforgeValidator.supports, kinds)) >= 22


@pytest.mark.parametrize(
    "name", [name for name, one in EXAMPLES.items() if planforge.up.PlanforgeValidator.supports(one.problem.kind)]
)
def test_plans_of_examples_are_judged_as_they_should(name):
    example = EXAMPLES[name]
    for plan in example.valid_plans:
        assert judge(example.problem, plan).status == Verdict.VALID
    for plan in example.invalid_plans:
        assert judge(example.problem, plan).status == Verdict.INVALID


def test_an_invalid_plan_has_its_step_and_reason():
    example = EXAMPLES["robot_loader"]
    plan = example.valid_plans[0]
    without = SequentialPlan(plan.actions[1:])
    verdict = judge(example.problem, without)
    assert verdict.reason == FailedValidationReason.INAPPLICABLE_ACTION
    assert verdict.inapplicable_action == judge(example.problem, without, "sequential_plan_validator").inapplicable_action
    assert any("cargo" in str(message) or "at" in str(message) for message in verdict.log_messages)
    shorter = judge(example.problem, SequentialPlan(plan.actions[:-1]))
    assert (shorter.status, shorter.reason) == (Verdict.INVALID, FailedValidationReason.UNSATISFIED_GOALS)
    assert judge(example.problem, SequentialPlan([])).reason == FailedValidationReason.UNSATISFIED_GOALS


@pytest.mark.parametrize("cost", [2, Fraction(5, 2), Fraction(1, 100_000)])
@pytest.mark.parametrize("more", [{}, {"default": 3}, {"cost_of_objects": True}])
def test_names_and_costs_come_back(cost, more):
    problem = trip(cost, **more)
    result = solve(problem, "planforge-opt")
    step = result.plan.actions[0]
    assert (step.action.name, [str(one) for one in step.actual_parameters]) == ("GO-now", ["define", "a"])
    assert step.action is problem.action("GO-now")
    assert result.status == Status.SOLVED_OPTIMALLY and result.metrics["cost"] == str(float(cost))
    verdict = judge(problem, result.plan)
    assert list(verdict.metric_evaluations.values()) == [cost]


def test_rounded_costs_prove_nothing():
    problem = trip(Fraction(1, 3))
    result = solve(problem, "planforge-opt")
    assert result.status == Status.SOLVED_SATISFICING and result.plan.actions
    assert any("1/3" in message.message for message in result.log_messages)
    verdict = judge(problem, result.plan)
    assert (verdict.status, verdict.metric_evaluations) == (Verdict.VALID, None)


def test_rounded_numbers_in_conditions_decide_nothing():
    level = Fluent("level", RealType())
    pour = InstantaneousAction("pour")
    pour.add_increase_effect(level, Fraction(1, 3))
    problem = Problem("jug", initial_defaults={RealType(): 0})
    problem.add_fluent(level, default_initial_value=0)
    problem.add_action(pour)
    problem.add_goal(GE(level, 1))
    plan = SequentialPlan([ActionInstance(pour)] * 3)
    assert judge(problem, plan, "sequential_plan_validator").status == Verdict.VALID
    assert judge(problem, plan).status == Verdict.UNKNOWN
    result = solve(problem)
    assert (result.status, result.plan) == (Status.UNSUPPORTED_PROBLEM, None)
    assert "1/3" in result.log_messages[-1].message


def market(coins):
    """Buys cheap goods and sells them for more, until there are enough coins."""
    purse, goods, room = (Fluent(name, RealType()) for name in ("purse", "goods", "room"))
    buy, sell = InstantaneousAction("buy"), InstantaneousAction("sell")
    buy.add_precondition(GE(purse, 2))
    buy.add_precondition(GT(room, goods))
    buy.add_decrease_effect(purse, 2)
    buy.add_increase_effect(goods, 1)
    sell.add_precondition(GE(goods, 1))
    sell.add_decrease_effect(goods, 1)
    sell.add_increase_effect(purse, Fraction(7, 2))
    problem = Problem("market")
    for fluent, value in ((purse, 5), (goods, 0), (room, 3)):
        problem.add_fluent(fluent, default_initial_value=value)
    problem.add_actions([buy, sell])
    problem.add_goal(GE(purse, coins))
    return problem


def test_numbers_are_planned_with_and_judged():
    problem = market(12)
    result = solve(problem, timeout=60)
    assert result.status == Status.SOLVED_SATISFICING
    for engine in ("sequential_plan_validator", "planforge", "planforge-val"):
        assert judge(problem, result.plan, engine).status == Verdict.VALID
    assert not planforge.up.PlanforgeOptimal.supports(problem.kind)
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    with AnytimePlanner(name="planforge", params={"max_nodes": 80_000}) as planner:
        *_, last = planner.get_solutions(problem, timeout=60)
    # Each pair of steps earns 3/2, and 7 are missing.
    assert len(last.plan.actions) == 10
    assert judge(problem, last.plan, "sequential_plan_validator").status == Verdict.VALID


def kiln(closes, pieces=2, share=Fraction(3, 2)):
    """Pieces that are fired one after the other, in a kiln that closes."""
    Piece = UserType("Piece")
    raw, fired = (Fluent(name, BoolType(), p=Piece) for name in ("raw", "fired"))
    is_open, free = Fluent("is open", BoolType()), Fluent("free", BoolType())
    fire = DurativeAction("fire", p=Piece)
    fire.set_closed_duration_interval(share, 2 * share)
    piece = fire.parameter("p")
    for condition in (raw(piece), free):
        fire.add_condition(StartTiming(), condition)
    fire.add_condition(ClosedTimeInterval(StartTiming(), EndTiming()), is_open)
    fire.add_effect(StartTiming(), free, False)
    fire.add_effect(EndTiming(), free, True)
    fire.add_effect(EndTiming(), raw(piece), False)
    fire.add_effect(EndTiming(), fired(piece), True)
    problem = Problem("kiln")
    for fluent, value in ((raw, True), (fired, False), (is_open, True), (free, True)):
        problem.add_fluent(fluent, default_initial_value=value)
    problem.add_action(fire)
    for number in range(pieces):
        problem.add_object(f"p{number}", Piece)
        problem.add_goal(fired(problem.object(f"p{number}")))
    problem.add_timed_effect(GlobalStartTiming(closes), is_open, False)
    problem.add_quality_metric(MinimizeMakespan())
    return problem


def test_plans_with_times_meet_deadlines_and_bounds_of_durations():
    problem = kiln(4)
    result = solve(problem, timeout=60)
    assert (result.status, len(result.plan.timed_actions)) == (Status.SOLVED_SATISFICING, 2)
    starts, actions, durations = zip(*result.plan.timed_actions)
    assert durations == (Fraction(3, 2), Fraction(3, 2)) and starts[1] >= starts[0] + durations[0]
    assert {str(action.actual_parameters[0]) for action in actions} == {"p0", "p1"}
    verdict = judge(problem, result.plan, "up_time_triggered_validator")
    assert verdict.status == Verdict.VALID
    with AnytimePlanner(name="planforge", params={"max_nodes": 20_000}) as planner:
        *_, last = planner.get_solutions(problem, timeout=60)
    assert isinstance(last.plan, TimeTriggeredPlan) and last.status == Status.SOLVED_SATISFICING


def test_durations_come_back_exactly_or_not_at_all():
    weight = Fluent("weight", RealType())

    def heavy(by):
        problem = kiln(50, pieces=1)
        fire = problem.actions[0]
        problem.add_fluent(weight, default_initial_value=7)
        fire.set_fixed_duration(Div(weight, by))
        return problem

    for by in (3, 7):
        ((_, _, duration),) = solve(heavy(by), timeout=60).plan.timed_actions
        assert duration == Fraction(7, by)
    # 715/714 is near to both.
    for share in (Fraction("1.0014"), Fraction("1.001401")):
        problem = kiln(50, pieces=1)
        problem.actions[0].set_fixed_duration(share)
        ((_, _, duration),) = solve(problem, timeout=60).plan.timed_actions
        assert duration == share
    result = solve(heavy(1234), timeout=60)
    assert (result.status, result.plan) == (Status.UNSUPPORTED_PROBLEM, None)
    assert "rounded" in result.log_messages[-1].message


def test_of_a_task_with_time_nothing_is_proven():
    # In unified-planning the second piece may start at the moment at which the first one ends, and end when the kiln closes.
    for closes in (3, 2):
        result = solve(kiln(closes), timeout=20)
        assert result.plan is None and result.status != Status.UNSOLVABLE_PROVEN, closes
    shrinking = kiln(4)
    shrinking.add_fluent(level := Fluent("level", RealType()), default_initial_value=9)
    shrinking.add_decrease_effect(GlobalStartTiming(1), level, 2)
    assert planforge.up.Planforge.supports(shrinking.kind)
    assert solve(shrinking).status == Status.UNSUPPORTED_PROBLEM
    apart = kiln(4)
    apart.epsilon = Fraction(1, 10)
    result = solve(apart)
    assert (result.status, result.plan) == (Status.UNSUPPORTED_PROBLEM, None)
    assert "1/10" in result.log_messages[-1].message
    assert not planforge.up.Planforge.supports_plan(PlanKind.TIME_TRIGGERED_PLAN)


def test_unsolvable_is_a_proof_and_a_limit_is_not():
    problem = trip(1)
    problem.clear_quality_metrics()
    problem.clear_actions()
    result = solve(problem)
    assert (result.status, result.plan) == (Status.UNSOLVABLE_PROVEN, None)
    assert any("At Robot" in one.message or "at_robot" in one.message for one in result.log_messages)
    limited = solve(puzzle(400), "planforge-opt", params={"max_nodes": 10})
    assert (limited.status, limited.plan) == (Status.UNSOLVABLE_INCOMPLETELY, None)
    assert solve(puzzle(400), "planforge-opt", timeout=1e-6).status == Status.TIMEOUT


def test_a_second_metric_is_refused_and_an_infinite_timeout_is_none():
    problem = puzzle(20)
    assert solve(problem, "planforge-opt", timeout=float("inf")).status == Status.SOLVED_OPTIMALLY
    problem.add_quality_metric(MinimizeActionCosts({}, 1))
    for engine in ("planforge", "planforge-opt"):
        result = solve(problem, engine)
        assert (result.status, result.plan) == (Status.UNSUPPORTED_PROBLEM, None)
        assert "one quality metric" in result.log_messages[-1].message


def test_anytime_plans_get_better_and_the_last_one_is_proven():
    problem = puzzle(200)
    with AnytimePlanner(name="planforge", anytime_guarantee="INCREASING_QUALITY") as planner:
        results = list(planner.get_solutions(problem))
    *earlier, last = results
    assert earlier and {result.status for result in earlier} == {Status.INTERMEDIATE}
    assert last.status == Status.SOLVED_OPTIMALLY
    lengths = [len(result.plan.actions) for result in results]
    assert lengths == sorted(lengths, reverse=True) and len(set(lengths[:-1])) == len(lengths) - 1
    assert lengths[-1] == len(solve(problem, "planforge-opt").plan.actions)
    assert judge(problem, last.plan).status == Verdict.VALID


def test_each_anytime_plan_comes_once_from_one_search():
    problem = puzzle(200)
    with AnytimePlanner(name="planforge", params={"max_nodes": 40_000}) as planner:
        *earlier, last = planner.get_solutions(problem)
    better = [one.message for one in last.log_messages if " steps after " in one.message]
    # The planner logs each plan but the first.
    assert better and len(earlier) == len(better) + 1
    assert [len(one.plan.actions) for one in earlier[1:]] == [int(line.split()[0]) for line in better]
    assert len(last.plan.actions) == len(earlier[-1].plan.actions)


def test_a_search_ends_when_no_further_plan_is_wanted():
    threads = threading.active_count()
    with AnytimePlanner(name="planforge") as planner:
        solutions = planner.get_solutions(puzzle(400))
        assert next(solutions).status == Status.INTERMEDIATE
        assert threading.active_count() > threads
        solutions.close()
    assert threading.active_count() == threads


def test_anytime_without_a_metric_or_a_plan_is_one_result():
    problem = puzzle(20)
    problem.clear_quality_metrics()
    with AnytimePlanner(name="planforge") as planner:
        assert [one.status for one in planner.get_solutions(problem)] == [Status.SOLVED_SATISFICING]
    problem = puzzle(20)
    problem.clear_actions()
    with AnytimePlanner(name="planforge") as planner:
        assert [one.status for one in planner.get_solutions(problem)] == [Status.UNSOLVABLE_PROVEN]
    with AnytimePlanner(name="planforge", params={"max_nodes": 10}) as planner:
        assert [one.status for one in planner.get_solutions(puzzle(400))] == [Status.UNSOLVABLE_INCOMPLETELY]


def test_a_stream_receives_better_plans_and_what_is_ignored_is_a_warning():
    stream = StringIO()
    with pytest.warns(UserWarning, match="planforge ignores `heuristic`"):
        result = solve(puzzle(200), params={"search": "best", "max_nodes": 40_000}, output_stream=stream, heuristic=lambda state: 0)
    assert "steps after" in stream.getvalue()
    assert result.metrics["expanded"].isdigit() and float(result.metrics["engine_internal_time"]) > 0


def test_a_problem_is_planned_anew_after_a_change():
    problem = puzzle(200)
    elsewhere = problem.fluent("on")(problem.object("t1"), problem.object("p22"))
    with Replanner(problem=problem, name="replanner[planforge]") as replanner:
        assert judge(problem, replanner.resolve().plan).status == Verdict.VALID
        replanner.add_goal(elsewhere)
        assert replanner.resolve().status == Status.UNSOLVABLE_PROVEN
        replanner.remove_goal(elsewhere)
        assert judge(problem, replanner.resolve().plan).status == Verdict.VALID


def test_the_factory_chooses_planforge_for_an_optimal_plan():
    with OneshotPlanner(problem_kind=puzzle(1).kind, optimality_guarantee="SOLVED_OPTIMALLY") as planner:
        assert planner.name == "planforge-opt"
    with PlanValidator(problem_kind=EXAMPLES["robot_loader_weak_bridge"].problem.kind) as validator:
        assert validator.name in ("planforge-val", "sequential_plan_validator")


def test_what_is_not_claimed_is_refused():
    problem = EXAMPLES["robot_with_static_fluents_duration_timed_goals"].problem
    with pytest.raises(unified_planning.exceptions.UPUsageError), OneshotPlanner(name="planforge") as planner:
        planner.error_on_failed_checks = True
        planner.solve(problem)
    with pytest.raises(unified_planning.exceptions.UPUsageError, match="`search` is `fast`"):
        OneshotPlanner(name="planforge", params={"search": "fast"})
    bounded = EXAMPLES["basic_bool_fluent_param"].problem
    with OneshotPlanner(name="planforge") as planner:
        planner.skip_checks = True
        assert planner.solve(bounded).status == Status.UNSUPPORTED_PROBLEM


def test_the_example_of_the_page_runs(capsys):
    page = (Path(__file__).parents[3] / "docs/how-to/use-from-python.md").read_text()
    (example,) = re.findall(r"^```python,unified-planning\n(.*?)^```", page, re.M | re.S)
    exec(example, {"problem": puzzle(200)})
    assert "SOLVED_OPTIMALLY" in capsys.readouterr().out.splitlines()[-1]
