"""planforge as an engine of unified-planning (1.3 or newer).

    import planforge.up
    from unified_planning.shortcuts import OneshotPlanner

    planforge.up.register()
    with OneshotPlanner(name="planforge") as planner:
        result = planner.solve(problem, timeout=10)

The engines are `planforge` (oneshot and anytime planner, plan validator), `planforge-opt` (plans that are proven optimal) and `planforge-val` (a plan validator
for more kinds of problems). unified-planning makes `replanner[planforge]` and `oversubscription[planforge]` from the first.
"""

# The methods of a class are static in unified-planning.
# pyright: reportMissingImports=false, reportIncompatibleMethodOverride=false

from __future__ import annotations

import re
import time
import warnings
from fractions import Fraction
from typing import IO, Any, Callable, Dict, FrozenSet, Iterator, List, Mapping, Optional, Tuple

try:
    from unified_planning.engines import Credits, Engine, LogMessage, PlanGenerationResult, ValidationResult
    from unified_planning.engines.mixins import AnytimePlannerMixin, OneshotPlannerMixin, PlanValidatorMixin
    from unified_planning.engines.mixins.anytime_planner import AnytimeGuarantee
    from unified_planning.engines.mixins.oneshot_planner import OptimalityGuarantee
    from unified_planning.engines.plan_validator import TimeTriggeredPlanValidator
    from unified_planning.engines.results import FailedValidationReason, LogLevel
    from unified_planning.engines.results import PlanGenerationResultStatus as PlanStatus
    from unified_planning.engines.results import ValidationResultStatus as Verdict
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import UPException, UPUsageError
    from unified_planning.io import PDDLWriter
    from unified_planning.model import ProblemKind
    from unified_planning.model.metrics import MinimizeActionCosts
    from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
    from unified_planning.plans import ActionInstance, PlanKind, SequentialPlan, TimeTriggeredPlan
except ImportError as error:
    raise ImportError(
        f"planforge.up needs unified-planning: {error}. Run pip install 'planforge[unified-planning]'"
    ) from error

from ._context import Context, Event
from ._errors import Diagnostic, Error
from ._native import __version__
from ._pddl import MEMORY_LIMIT_MB, Plan, Search, read

# Features that the planner plans with, and that PDDL can express with the same meaning. PDDL has no bounded numbers, no undefined initial values, and no
# fluents whose parameters or values are something else than objects.
PLANNED = (
    "ACTION_BASED",
    "FLAT_TYPING",
    "HIERARCHICAL_TYPING",
    "NEGATIVE_CONDITIONS",
    "DISJUNCTIVE_CONDITIONS",
    "EQUALITIES",
    "EXISTENTIAL_CONDITIONS",
    "UNIVERSAL_CONDITIONS",
    "CONDITIONAL_EFFECTS",
    "FORALL_EFFECTS",
    "STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS",
    "FLUENTS_IN_BOOLEAN_ASSIGNMENTS",
    "ACTIONS_COST",
    "STATIC_FLUENTS_IN_ACTIONS_COST",
    "INT_NUMBERS_IN_ACTIONS_COST",
    "REAL_NUMBERS_IN_ACTIONS_COST",
    "PLAN_LENGTH",
)

# Features of numbers, with which the planner searches plans that are not proven optimal.
NUMERIC = (
    "SIMPLE_NUMERIC_PLANNING",
    "GENERAL_NUMERIC_PLANNING",
    "INT_FLUENTS",
    "REAL_FLUENTS",
    "INCREASE_EFFECTS",
    "DECREASE_EFFECTS",
    "STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "FLUENTS_IN_ACTIONS_COST",
    "FINAL_VALUE",
)

# Features of time, with which the planner searches plans that are not proven optimal. PDDL has no timed goals and no conditions or effects between the
# ends of an action. Plans with times are not judged: PDDL asks for a moment between two steps that interfere, and unified-planning does not.
TEMPORAL = (
    "CONTINUOUS_TIME",
    "TIMED_EFFECTS",
    "DURATION_INEQUALITIES",
    "STATIC_FLUENTS_IN_DURATIONS",
    "FLUENTS_IN_DURATIONS",
    "INT_TYPE_DURATIONS",
    "REAL_TYPE_DURATIONS",
    "MAKESPAN",
)

# The least time between two steps of a plan that interfere.
_EPSILON = Fraction(1, 1000)

# Features that sequential plans are judged with.
VALIDATED = (
    *PLANNED,
    *NUMERIC,
    "TRAJECTORY_CONSTRAINTS",
    "STATE_INVARIANTS",
)

# Seconds of the anytime planner without a timeout: without any limit, a search ends ten seconds after its first plan.
_FOREVER = 1e8

_OF_OUTCOME = {
    "proven-unsolvable": PlanStatus.UNSOLVABLE_PROVEN,
    "exhausted": PlanStatus.UNSOLVABLE_INCOMPLETELY,
    "unsupported": PlanStatus.UNSUPPORTED_PROBLEM,
}
_OF_LIMIT = {"time": PlanStatus.TIMEOUT, "memory": PlanStatus.MEMOUT}
_OF_SEVERITY = {"error": LogLevel.ERROR, "warning": LogLevel.WARNING, "advice": LogLevel.INFO}

# A problem that cannot be written, or that PDDL does not have.
_UNWRITTEN = (UPException, NotImplementedError)


def register(env: Any = None) -> None:
    """Adds the engines to an environment of unified-planning, by default the global one. A second call changes nothing."""
    factory = get_environment(env).factory
    for engine in (Planforge, PlanforgeOptimal, PlanforgeValidator):
        if engine.NAME not in factory.engines:
            factory.add_engine(engine.NAME, __name__, engine.__name__)


class _Call:
    """A problem as PDDL, with the way back, and the logs and the time of a call."""

    def __init__(self, engine: str, problem: Any, timeout: Optional[float] = None, output_stream: Any = None):
        self.engine, self.problem = engine, problem
        self.logs: List[LogMessage] = []
        self._start, self._timeout = time.monotonic(), timeout
        self._stream = output_stream[0] if isinstance(output_stream, tuple) else output_stream
        self.metric = next(iter(problem.quality_metrics), None)
        self._has_time = problem.kind.has_continuous_time()

    def write(self) -> None:
        """Writes and reads the problem.

        Raises an exception of unified-planning, NotImplementedError or a planforge error.
        """
        if len(self.problem.quality_metrics) > 1:
            raise UPException("planforge takes one quality metric")
        if self._has_time and self.problem.epsilon is not None and self.problem.epsilon > _EPSILON:
            raise UPException(f"steps that interfere are {_EPSILON} apart, and the problem asks for {self.problem.epsilon}")
        for timing, effects in getattr(self.problem, "timed_effects", {}).items():
            if not timing.is_from_start() or not all(map(_is_literal, effects)):
                raise UPException(f"PDDL does not have an effect at {timing} that is not an assignment of a constant")
        self._writer = PDDLWriter(_with_all_costs(self.problem, self.metric), rewrite_bool_assignments=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.metric is not None and self.metric.is_minimize_action_costs():
                # Objects in costs must be constants, which the writer finds after it has written the constants.
                self._writer.get_domain()
            # The writer has `assign` where PDDL 2.2 has `=`.
            problem = re.sub(r"(\(at \d\S*\s+)\(assign ", r"\1(= ", self._writer.get_problem())
            texts = self._writer.get_domain(), _join_constraints(problem)
        rounded = {str(one.message) for one in caught if "cannot exactly represent" in str(one.message)}
        self.is_exact = not rounded
        """False if a number has no finite decimal form, such as 1/3."""
        for message in sorted(rounded):
            self.log(LogLevel.WARNING, message)
        self.task = read(*texts, context=Context(on_event=self._receive))
        self.log_findings(self.task.diagnostics)

    def check_certain(self) -> None:
        """Raises UPException if neither a plan nor a proof would be certain."""
        if not self.is_certain():
            raise UPException("a number in a condition has no finite decimal form, such as 1/3")

    def log(self, level: LogLevel, message: str) -> None:
        self.logs.append(LogMessage(level, message))
        if self._stream is not None:
            self._stream.write(message + "\n")

    def log_findings(self, diagnostics: Tuple[Diagnostic, ...]) -> None:
        logged = {one.message for one in self.logs}
        for found in diagnostics:
            if str(found) not in logged:
                self.log(_OF_SEVERITY[found.severity], str(found))

    def _receive(self, event: Event) -> None:
        if event["kind"] == "notice":
            self.log(LogLevel.INFO, event["text"])

    def left(self) -> Optional[float]:
        """Seconds until the timeout, or a moment after it."""
        if self._timeout is None or self._timeout >= 1e9:
            return None
        return max(self._start + self._timeout - time.monotonic(), 0.001)

    def is_certain(self) -> bool:
        """False with rounded numbers where they may decide a condition: neither it nor its negation is then certain."""
        return self.is_exact or bool(self.problem.kind <= ProblemKind(PLANNED))

    def metrics(self) -> Dict[str, str]:
        return {"engine_internal_time": str(time.monotonic() - self._start)}

    def search(self, kind: str, limits: Mapping[str, Any]) -> PlanGenerationResult:
        """The result of a search until the timeout."""
        return self.result(
            self.task.search(first=kind == "first", optimal=kind == "optimal", time_limit=self.left(), **limits)
        )

    def improve(self, limits: Mapping[str, Any]) -> Iterator[PlanGenerationResult]:
        """Each better plan until the timeout, and the result of the search."""
        with self.task.plans(time_limit=self.left() or _FOREVER, **limits) as plans:
            for plan in plans:
                try:
                    better = self._result(PlanStatus.INTERMEDIATE, plan, {})
                except UPException as error:
                    # A later plan may have durations that can be written.
                    self.log(LogLevel.WARNING, str(error))
                    continue
                yield better
            yield self.result(plans.result)

    def result(self, found: Search) -> PlanGenerationResult:
        self.log_findings(found.diagnostics)
        for line in found.explanation:
            self.log(LogLevel.INFO, line)
        return self._result(self.status(found), next(iter(found.plans), None), found.data.get("statistics", {}))

    def _result(self, status: PlanStatus, plan: Optional[Plan], values: Mapping[str, Any]) -> PlanGenerationResult:
        if plan is not None:
            values = {**values, "cost": plan.cost, "bound": plan.bound}
        metrics = {**self.metrics(), **{name: str(value) for name, value in values.items() if value is not None}}
        mapped = None if plan is None else self._plan(plan.data)
        return PlanGenerationResult(status, mapped, self.engine, metrics, list(self.logs))

    def status(self, found: Search) -> PlanStatus:
        if not found.plans:
            incomplete = PlanStatus.UNSOLVABLE_INCOMPLETELY
            if self._has_time and found.outcome == "proven-unsolvable":
                # Steps that interfere may be at one time in unified-planning.
                return incomplete
            return _OF_OUTCOME.get(found.outcome) or _OF_LIMIT.get(found.limit or "", incomplete)
        # Without a metric no plan is better than another, and with rounded costs nothing is proven.
        is_optimal = found.plans[0].optimal and self.metric is not None and self.is_exact and not self._has_time
        return PlanStatus.SOLVED_OPTIMALLY if is_optimal else PlanStatus.SOLVED_SATISFICING

    def failed(self, error: Exception) -> PlanGenerationResult:
        self.log(LogLevel.ERROR, str(error))
        is_unwritten = isinstance(error, _UNWRITTEN)
        status = PlanStatus.UNSUPPORTED_PROBLEM if is_unwritten else PlanStatus.INTERNAL_ERROR
        return PlanGenerationResult(status, None, self.engine, self.metrics(), self.logs)

    def _plan(self, found: Mapping[str, Any]) -> Any:
        environment = self.problem.environment
        actions = []
        for step in found["steps"]:
            action, *objects = map(self._writer.get_item_named, step.strip("()").split())
            parameters = tuple(map(environment.expression_manager.ObjectExp, objects))
            actions.append(ActionInstance(self.problem.action(action.name), parameters))
        if not self._has_time:
            return SequentialPlan(actions, environment)
        # Without times there are only instantaneous actions.
        times = found.get("times") or [{"start": number} for number in range(1, len(actions) + 1)]
        starts = [Fraction(repr(at["start"])) for at in times]
        durations = [at.get("duration") for at in times]
        validator = TimeTriggeredPlanValidator(environment=environment)
        for exact in (Fraction, _simple):
            exactly = [None if one is None else exact(repr(one)) for one in durations]
            plan = TimeTriggeredPlan([*zip(starts, actions, exactly)], environment)
            if validator.validate(self.problem, plan):
                return plan
        raise UPException("the times of the plan are rounded: a duration has no short decimal form, such as 1/1234")

    def validate(self, plan: Any) -> ValidationResult:
        try:
            self.write()
            verdict = self.task.validate(f"\n{self._writer.get_plan(plan)}", time_limit=None)
        except (Error, *_UNWRITTEN) as error:
            self.log(LogLevel.ERROR, str(error))
            return self._judged(Verdict.UNKNOWN)
        self.log_findings(verdict.diagnostics)
        if verdict.decision == "undecided" or not self.is_certain():
            return self._judged(Verdict.UNKNOWN)
        if verdict:
            return self._judged(Verdict.VALID, metric_evaluations=self._evaluated(verdict.cost))
        failing = verdict.data.get("failing_step")
        if failing is None:
            return self._judged(Verdict.INVALID, reason=FailedValidationReason.UNSATISFIED_GOALS)
        reason = FailedValidationReason.INAPPLICABLE_ACTION
        return self._judged(Verdict.INVALID, reason=reason, inapplicable_action=plan.actions[failing["index"]])

    def _judged(self, verdict: Verdict, **more: Any) -> ValidationResult:
        return ValidationResult(verdict, self.engine, self.logs, metrics=self.metrics(), **more)

    def _evaluated(self, cost: Optional[float]) -> Optional[Dict[Any, Any]]:
        if self.metric is None or cost is None or not self.is_exact:
            return None
        value = Fraction(repr(cost))
        return {self.metric: value.numerator if value.denominator == 1 else value}


def _simple(number: str) -> Fraction:
    """The fraction that the planner, which rounds durations to six digits, may have rounded: 7/3 for 2.333333."""
    exact = Fraction(number)
    simple = exact.limit_denominator(1000)
    return simple if abs(simple - exact) <= Fraction(1, 2_000_000) else exact


def _is_literal(effect: Any) -> bool:
    """True for a timed effect that PDDL has."""
    return effect.is_assignment() and not effect.is_conditional() and not effect.forall and effect.value.is_constant()


def _with_all_costs(problem: Any, metric: Any) -> Any:
    """The writer fails at an action without a cost, which costs nothing."""
    if metric is None or not metric.is_minimize_action_costs():
        return problem
    costs = {action: metric.get_action_cost(action) for action in problem.actions}
    if None not in costs.values():
        return problem
    complete = problem.clone()
    complete.clear_quality_metrics()
    known = {action: cost for action, cost in costs.items() if cost is not None}
    complete.add_quality_metric(MinimizeActionCosts(known, 0, problem.environment))
    return complete


def _join_constraints(problem: str) -> str:
    """The writer leaves out the `and` of several constraints."""
    before, section, after = problem.partition("(:constraints ")
    depth = 1
    for place, character in enumerate(after):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return f"{before}{section}(and {after[:place]}){after[place:]}"
    return problem


class _Base(Engine):  # type: ignore[misc]
    """What the engines share."""

    NAME = ""
    FEATURES: FrozenSet[str] = frozenset(PLANNED)

    @property
    def name(self) -> str:
        return self.NAME

    @classmethod
    def supported_kind(cls) -> ProblemKind:
        return ProblemKind(cls.FEATURES, version=LATEST_PROBLEM_KIND_VERSION)

    @classmethod
    def supports(cls, problem_kind: ProblemKind) -> bool:
        return bool(problem_kind <= cls.supported_kind())

    @staticmethod
    def get_credits(**_: Any) -> Credits:
        return Credits(
            name="planforge",
            author="the planforge authors",
            contact="https://github.com/planforge/planforge/issues",
            website="https://github.com/planforge/planforge",
            license="MIT or Apache-2.0",
            short_description="Classical planning with proofs, numeric and temporal planning, validation of plans.",
            long_description=f"planforge {__version__}: heuristic search, proofs that a plan is optimal or that there is none, validation of plans.",
        )


class _Planner(_Base, OneshotPlannerMixin):  # type: ignore[misc]
    """A oneshot planner.

    `search` is `first`, `best` (until the timeout) or `optimal`. `max_nodes` and `memory_limit_mb` are those of `planforge.Task.search`.
    """

    SEARCH = "first"

    def __init__(
        self, search: Optional[str] = None, max_nodes: Optional[int] = None, memory_limit_mb: int = MEMORY_LIMIT_MB
    ):
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)
        self._search = search or self.SEARCH
        self._limits = {"max_nodes": max_nodes, "memory_limit_mb": memory_limit_mb}
        if self._search not in ("first", "best", "optimal"):
            raise UPUsageError(f"`search` is `{search}`, not `first`, `best` or `optimal`")

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    def _solve_with_params(
        self,
        problem: Any,
        heuristic: Optional[Callable[[Any], Optional[float]]] = None,
        timeout: Optional[float] = None,
        output_stream: Optional[IO[str]] = None,
        **ignored: Any,
    ) -> PlanGenerationResult:
        self._warn(heuristic=heuristic, **ignored)
        call = _Call(self.name, problem, timeout, output_stream)
        try:
            call.write()
            call.check_certain()
            return call.search(self._search, self._limits)
        except (Error, *_UNWRITTEN) as error:
            return call.failed(error)

    _solve = _solve_with_params

    def _warn(self, **arguments: Any) -> None:
        for argument, value in arguments.items():
            if value is not None:
                warnings.warn(f"{self.name} ignores `{argument}`", stacklevel=4)


class PlanforgeValidator(_Base, PlanValidatorMixin):  # type: ignore[misc]
    """The engine `planforge-val`: judges sequential plans, also with numbers and constraints on trajectories."""

    NAME = "planforge-val"
    FEATURES = frozenset(VALIDATED)

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        return bool(plan_kind == PlanKind.SEQUENTIAL_PLAN)

    def _validate(self, problem: Any, plan: Any) -> ValidationResult:
        return _Call(self.name, problem).validate(plan)


class Planforge(_Planner, AnytimePlannerMixin, PlanforgeValidator):  # type: ignore[misc]
    """The engine `planforge`.

    The oneshot planner returns its first plan, or with `params={"search": "best"}` the best one until the timeout. The anytime planner
    yields each better plan of one search as INTERMEDIATE when it is found, and last the best one with its status.
    """

    NAME = "planforge"
    FEATURES = frozenset((*PLANNED, *NUMERIC, *TEMPORAL))

    def __init__(self, **params: Any):
        _Planner.__init__(self, **params)
        AnytimePlannerMixin.__init__(self)

    @staticmethod
    def ensures(anytime_guarantee: AnytimeGuarantee) -> bool:
        return bool(anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY)

    def _get_solutions_with_params(
        self,
        problem: Any,
        timeout: Optional[float] = None,
        output_stream: Optional[IO[str]] = None,
        **ignored: Any,
    ) -> Iterator[PlanGenerationResult]:
        self._warn(**ignored)
        call = _Call(self.name, problem, timeout, output_stream)
        try:
            call.write()
            call.check_certain()
            if call.metric is None:
                yield call.search("first", self._limits)
            else:
                yield from call.improve(self._limits)
        except (Error, *_UNWRITTEN) as error:
            yield call.failed(error)

    _get_solutions = _get_solutions_with_params


class PlanforgeOptimal(_Planner):
    """The engine `planforge-opt`: a plan is proven to be optimal, or there is none until the timeout."""

    NAME = "planforge-opt"
    SEARCH = "optimal"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        return True
