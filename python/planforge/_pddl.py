"""PDDL without a model: tasks, plans, checks, comparisons."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from sys import byteorder
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _native
from ._async import Progress, awaitable
from ._context import (
    Context,
    NativeSource,
    PathArgument,
    SourceArgument,
    call,
    native,
    path,
    settings,
    source,
    text_source,
)
from ._errors import Diagnostic, NoPlan, UsageError, from_native
from ._shown import Shown

MEMORY_LIMIT_MB = 4096
"""Megabytes of states and steps that a call keeps at most, unless it says otherwise."""

_OF_STATUS = {21: "time", 22: "memory", 23: "nodes"}

PlanArgument = Union["Plan", str, PathArgument, Iterable[str]]
"""A plan: a `Plan`, a text in IPC form, a path, or the steps."""


def _check_seconds(time_limit: Optional[float]) -> None:
    if time_limit is not None and not 0 < time_limit < 1e9:
        raise UsageError(f"`time_limit` is {time_limit}, not a number of seconds above 0", code="cli.usage")


def _limits(time_limit: Optional[float], memory_limit_mb: int = MEMORY_LIMIT_MB) -> Dict[str, Any]:
    _check_seconds(time_limit)
    return {"time_limit": time_limit, "memory_limit_mb": memory_limit_mb}


@dataclass(frozen=True)
class Plan(Shown):
    """A plan of a task. Iterates over its steps; its text is in IPC form."""

    steps: Tuple[str, ...]
    """Ground actions such as `(move a b)`; with their times `0.001: (mend f1) [5.000]` in a task with time."""
    cost: Optional[float]
    """The value of the metric, the number of steps without a metric; None if it was not computed."""
    bound: Optional[float]
    """No plan costs less (more, if the metric is maximised); None if nothing was proven."""
    optimal: bool
    """True if it is proven that no plan is better."""
    task: "Task" = field(repr=False, compare=False)
    """The task."""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The plan in the object of `planforge pddl plan --json`."""

    def words(self) -> str:
        """The plan in sentences, a line each. They use the file `sentences.toml` beside the domain's file, if there is one."""
        return self.task._words(self)

    def pictures(self, *, template: Optional[SourceArgument] = None) -> "Pictures":
        """Pictures of its states, as `Task.pictures`."""
        return self.task.pictures(self, template=template)

    def __str__(self) -> str:
        return "\n".join((*self.steps, ""))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[str]:
        return iter(self.steps)


@dataclass(frozen=True)
class Picture:
    """A picture; a notebook shows it."""

    svg: str = field(repr=False)
    """An SVG file, as text."""
    step: int = 0
    """The number of steps before the state."""

    def save(self, file: PathArgument) -> None:
        """Writes the SVG file."""
        with open(path(file, "file"), "w", encoding="utf-8") as stream:
            stream.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


class Pictures(Shown, Tuple[Picture, ...]):
    """The states of a plan, without those that look like the one before; a notebook shows all of them."""

    steps: Tuple[str, ...]
    """The steps of the plan."""


@dataclass(frozen=True)
class Search(Shown):
    """The result of a search for plans."""

    outcome: str
    """`plan`, `proven-unsolvable`, `exhausted`, `limit-reached` or `unsupported`."""
    plans: Tuple[Plan, ...]
    """Best first. With `limit-reached`, those found before the limit."""
    limit: Optional[str]
    """The limit that was reached: `time`, `memory` or `nodes`, which is also the size of the ground task."""
    explanation: Tuple[str, ...]
    """Reasons why there is no plan."""
    diagnostics: Tuple[Diagnostic, ...]
    """Findings about the task."""
    data: Mapping[str, Any] = field(repr=False)
    """The object of `planforge pddl plan --json`."""


class Validation(Shown):
    """A verdict about PDDL, a plan or a pipeline file. True in a condition if it is `accepted`."""

    __slots__ = ("_data", "cost", "decision")

    decision: str
    """`accepted`, `rejected` or `undecided`."""
    cost: Optional[float]
    """The cost of a valid plan."""

    def __init__(self, decision: str, cost: Optional[float], data: Union[Mapping[str, Any], "_native.NativeVerdict"]):
        self.decision = decision
        self.cost = cost
        self._data: Union[Mapping[str, Any], _native.NativeVerdict] = data

    @property
    def data(self) -> Mapping[str, Any]:
        """The object of `--json`; of a plan with `steps` and, if a step cannot be executed, `failing_step`."""
        data = self._data
        if isinstance(data, _native.NativeVerdict):
            self._data = data = json.loads(data.json())
        return data

    @property
    def diagnostics(self) -> Tuple[Diagnostic, ...]:
        """Everything that was found, warnings included."""
        return tuple(map(Diagnostic.from_data, self.data["diagnostics"]))

    @property
    def valid(self) -> bool:
        """True only for `accepted`."""
        return self.decision == "accepted"

    def __bool__(self) -> bool:
        return self.decision == "accepted"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Validation) and self.data == other.data

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return Validation, (self.decision, self.cost, self.data)

    def __repr__(self) -> str:
        return f"Validation(decision={self.decision!r}, cost={self.cost!r}, diagnostics={self.diagnostics!r})"


@dataclass(frozen=True)
class Difference(Shown):
    """The shortest sequence of actions after which two domains behave differently."""

    kind: str
    """`refused` (one executes the last step, the other does not) or `goal` (it holds afterwards in one alone)."""
    by: str
    """The side that refuses, or in which the goal does not hold: `first` or `second`."""
    steps: Tuple[str, ...]
    """The sequence; a refused step is its last."""
    why: str
    """The reason as a clause."""
    conditions: Tuple[str, ...]
    """The conditions that do not hold there."""


@dataclass(frozen=True)
class Comparison(Shown):
    """A comparison of two domains or tasks. True in a condition if they are equal."""

    decision: str
    """`equal`, `different`, `undecided`, or `not-comparable` if the actions could not be matched."""
    difference: Optional[Difference]
    """The shortest difference in behaviour."""
    diagnostics: Tuple[Diagnostic, ...]
    """Findings about the texts."""
    in_words: Tuple[str, ...]
    """Differences between the definitions of two tasks, a sentence each. Empty for domains."""
    walk_score: Optional[float]
    """The exploration walk score of two tasks, 0 to 1."""
    data: Mapping[str, Any] = field(repr=False)
    """The report."""

    @property
    def equal(self) -> bool:
        """True only for `equal`."""
        return self.decision == "equal"

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True)
class State:
    """A state at the end of a random walk."""

    atoms: Tuple[str, ...]
    """The atoms that hold, without those that no action changes, sorted."""
    steps: Tuple[str, ...]
    """The steps from the initial state."""
    is_goal: bool
    """True if the goal holds."""


class Array:
    """An array of numbers. `numpy.asarray` makes a read-only one of it that shares its memory."""

    __slots__ = ("_data", "_type", "shape")

    shape: Tuple[int, ...]
    """Length of each dimension."""

    def __init__(self, data: bytes, shape: Tuple[int, ...], type: str):
        self._data = data
        self._type = type
        self.shape = shape

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        return {"version": 3, "data": self._data, "shape": self.shape, "typestr": self._type}


class Sample(Sequence[State]):
    """States at the ends of random walks: a sequence of `State`, and the same as arrays with a row for each state."""

    facts: Tuple[str, ...]
    """The columns of `values`, sorted: the facts that can change, so that samples of one task have the same. Of a task with more than 20,000 possible
    ground actions those that hold in one of the states."""
    values: Array
    """bool, states x facts: True if the fact holds."""
    actions: Tuple[str, ...]
    """The ground actions of the walks."""
    walks: Array
    """int32, states x steps of the longest walk: indices into `actions`, -1 after the last step."""
    goals: Array
    """bool, one for each state: True if the goal holds."""

    def __init__(self, facts: Sequence[str], values: bytes, actions: Sequence[str], walks: bytes, goals: bytes):
        from array import array

        self.facts, self.actions = tuple(facts), tuple(actions)
        self._rows, self._goals = values, goals
        self._walks = array("i", walks)
        n = len(goals)
        self.values = Array(values, (n, len(facts)), "|b1")
        self.walks = Array(walks, (n, len(self._walks) // n if n else 0), f"{'<' if byteorder == 'little' else '>'}i4")
        self.goals = Array(goals, (n,), "|b1")

    def __len__(self) -> int:
        return len(self._goals)

    @overload
    def __getitem__(self, place: int) -> State: ...
    @overload
    def __getitem__(self, place: slice) -> List[State]: ...
    def __getitem__(self, place: Union[int, slice]) -> Union[State, List[State]]:
        if isinstance(place, slice):
            return [self._state(row) for row in range(len(self))[place]]
        return self._state(range(len(self))[place])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sample):
            return NotImplemented

        def of(sample: Sample) -> Tuple[object, ...]:
            return sample.facts, sample.actions, sample._rows, sample._walks, sample._goals

        return of(self) == of(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Sample of {len(self)} states, {len(self.facts)} facts>"

    def _state(self, row: int) -> State:
        from itertools import compress

        facts, steps = len(self.facts), self.walks.shape[1]
        walk = self._walks[row * steps : (row + 1) * steps]
        return State(
            tuple(compress(self.facts, self._rows[row * facts : (row + 1) * facts])),
            tuple(self.actions[step] for step in walk if step >= 0),
            bool(self._goals[row]),
        )


class States:
    """The reachable states of a task."""

    def __init__(self, task: "Task"):
        self._task = task

    def sample(self, n: int, *, longest: int = 20, seed: int = 0, time_limit: Optional[float] = None) -> Sample:
        """The states at the ends of `n` random walks.

        Walk `k` takes `k % longest + 1` steps, fewer in a dead end. The same seed gives the same states. Empty if no action is applicable
        in the initial state.
        """
        if not 0 <= n < 1 << 32 or not 0 < longest < 1 << 32 or not 0 <= seed < 1 << 64:
            raise UsageError("`n`, `longest` and `seed` are whole numbers, and `longest` is above 0", code="cli.usage")
        task = self._task
        return Sample(*native(task._native.sample, (n, longest, seed), _limits(time_limit), task._surroundings))


class Task(Shown):
    """A domain and a problem without errors; `read` makes it. Threads may share it.

    Its files are read once: it does not change with them.
    """

    diagnostics: Tuple[Diagnostic, ...]
    """Warnings and remarks about the texts."""

    def __init__(self, domain: SourceArgument, problem: SourceArgument, *, context: Optional[Context] = None):
        self._surroundings = (context or Context()).surroundings()
        texts = source(domain, "domain"), source(problem, "problem")
        self._names = [text[0] if isinstance(text, tuple) else str(text) for text in texts]
        try:
            self._native, findings = _native.NativeTask.read(*texts, self._surroundings)
        except _native.NativeError as error:
            raise from_native(error.args[0]) from None
        self.diagnostics = tuple(map(Diagnostic.from_data, json.loads(findings)))

    def __repr__(self) -> str:
        return f"<Task {', '.join(self._names)}>"

    @property
    def domain(self) -> str:
        """The text of the domain."""
        return self._native.texts()[0]

    @property
    def problem(self) -> str:
        """The text of the problem."""
        return self._native.texts()[1]

    def search(
        self,
        *,
        first: bool = False,
        optimal: bool = False,
        k: Optional[int] = None,
        quality: Optional[float] = None,
        semantics: Optional[str] = None,
        time_limit: Optional[float] = None,
        max_nodes: Optional[int] = None,
        memory_limit_mb: int = MEMORY_LIMIT_MB,
    ) -> Search:
        """Searches plans with the bundled planner. Has the options of `planforge pddl plan`.

        By default the best plan until the limit on time or nodes, or in ten seconds after the first plan if there is neither. `first`: the first plan.
        `optimal`: a cheapest plan, proven. `k`: the `k` cheapest distinct plans, with `quality` only those that cost at most so many times the
        lowest cost. A task without a plan is a result, not an error.
        """
        kinds = [name for name, wanted in (("first", first), ("optimal", optimal), ("top-k", k is not None)) if wanted]
        if len(kinds) > 1:
            raise UsageError(f"`{'` and `'.join(kinds)}` contradict each other", code="cli.usage")
        if k is None and (quality is not None or semantics is not None):
            raise UsageError("`quality` and `semantics` go with `k`", code="cli.usage")
        if k is not None and not 0 < k < 1 << 32:
            raise UsageError(f"`k` is {k}, not a number of plans", code="cli.usage")
        request = {
            "search": kinds[0] if kinds else "best",
            "k": k or 1,
            "quality": quality,
            "semantics": semantics,
            "nodes": max_nodes,
            "limits": _limits(time_limit, memory_limit_mb),
            "report_plans": False,
        }
        return self._search(request, self._surroundings)

    def plans(
        self,
        *,
        time_limit: Optional[float] = None,
        max_nodes: Optional[int] = None,
        memory_limit_mb: int = MEMORY_LIMIT_MB,
    ) -> Progress[Plan, Search]:
        """Searches the best plan as `search`, on a thread, and iterates over each better plan as soon as it is found.

        `result` of the iterator is the `Search`. The functions of the context are called on the thread.
        """
        request = {
            "search": "best",
            "k": 1,
            "quality": None,
            "semantics": None,
            "nodes": max_nodes,
            "limits": _limits(time_limit, memory_limit_mb),
            "report_plans": True,
        }
        receiver = self._surroundings["on_event"]

        def work(report: Callable[[Plan], None]) -> Search:
            def receive(text: str) -> None:
                event = json.loads(text)
                if event["kind"] == "plan":
                    report(self._plan(event["plan"], False))
                elif receiver is not None:
                    receiver(text)

            return self._search(request, {**self._surroundings, "on_event": receive})

        return Progress(work)

    def _search(self, request: Dict[str, Any], surroundings: Dict[str, Any]) -> Search:
        status, data = call(self._native.plan, request, surroundings)
        plans = tuple(self._plan(plan, data["optimal"] and number == 0) for number, plan in enumerate(data["plans"]))
        diagnostics = tuple(map(Diagnostic.from_data, data["diagnostics"]))
        limit = _OF_STATUS.get(status)
        return Search(data["outcome"], plans, limit, tuple(data["explanation"]), diagnostics, data)

    def _plan(self, data: Mapping[str, Any], is_optimal: bool) -> Plan:
        return Plan(_lines(data), data.get("cost"), data.get("bound"), is_optimal, self, data)

    def plan(
        self,
        *,
        first: bool = False,
        optimal: bool = False,
        time_limit: Optional[float] = None,
        max_nodes: Optional[int] = None,
        memory_limit_mb: int = MEMORY_LIMIT_MB,
    ) -> Plan:
        """The best plan that `search` finds.

        Raises `NoPlan` if there is none: its `outcome` tells a proof from a limit.
        """
        found = self.search(
            first=first,
            optimal=optimal,
            time_limit=time_limit,
            max_nodes=max_nodes,
            memory_limit_mb=memory_limit_mb,
        )
        if found.plans:
            return found.plans[0]
        code, about = {
            "proven-unsolvable": ("python.unsolvable", "there is no plan; this is proven"),
            "limit-reached": ("python.no-plan", "a limit was reached before a plan was found"),
        }.get(found.outcome, ("python.no-plan", "no plan was found, and that there is none is not proven"))
        lines = (*found.explanation, *(str(one) for one in found.diagnostics if one.severity != "advice"))
        error = NoPlan(
            "\n".join([about, *lines]),
            code=code,
            help="raise the limit" if found.outcome == "limit-reached" else None,
            diagnostics=found.diagnostics,
            status=10 if found.outcome == "proven-unsolvable" else 20,
        )
        error.outcome, error.explanation = found.outcome, found.explanation
        raise error

    asearch, aplan = awaitable(search), awaitable(plan)

    def why_unsolvable(self, *, time_limit: Optional[float] = None) -> Optional[List[str]]:
        """The reasons why the task has no plan, a sentence each; None if it has one or nothing is proven."""
        found = self.search(first=True, time_limit=time_limit)
        return list(found.explanation) if found.outcome == "proven-unsolvable" else None

    def validate(self, plan: PlanArgument, *, time_limit: Optional[float] = 300) -> Validation:
        """Executes a plan step by step.

        The decision is `rejected` also for a plan that cannot be read, and `undecided` if its file cannot be read, a limit was reached, or the task has
        constructs that are not executed.
        """
        _check_seconds(time_limit)
        return Validation(*native(self._native.validate, _plan_source(plan), time_limit, self._surroundings))

    def pictures(
        self,
        plan: Optional[PlanArgument] = None,
        *,
        template: Optional[SourceArgument] = None,
        time_limit: Optional[float] = 300,
    ) -> Pictures:
        """Pictures of the states of a plan, up to a step that cannot be executed; without a plan, one of the initial state.

        They are drawn as `template` says (`planforge explain suite.picture`), else `picture.toml` beside the domain's file, else from types and predicates.
        """
        given = None if plan is None else _plan_source(plan)
        # A template is a TOML text, which has line breaks, or a path.
        drawing = None if template is None else source(template, "template")
        _, data = call(self._native.pictures, given, drawing, _limits(time_limit), self._surroundings)
        pictures = Pictures(Picture(one["svg"], one["step"]) for one in data["pictures"])
        pictures.steps = tuple(data["steps"])
        return pictures

    def gantt(self, plan: PlanArgument, *, time_limit: Optional[float] = 300) -> Picture:
        """The Gantt chart of a plan with times, or of steps with durative actions.

        Raises `UsageError` for a plan that is not executed by its times.
        """
        _, svg = call(self._native.gantt, _plan_source(plan), _limits(time_limit), self._surroundings)
        return Picture(svg)

    def states(self) -> States:
        """The reachable states."""
        return States(self)

    def _words(self, plan: Plan) -> str:
        _, words = call(self._native.words, ("plan", str(plan)), _limits(300), self._surroundings)
        return str(words)


def _lines(plan: Mapping[str, Any]) -> Tuple[str, ...]:
    """The steps of a plan as lines of a plan file."""
    times = plan.get("times")
    if not times:
        return tuple(plan["steps"])

    from decimal import Decimal

    def text(time: float) -> str:
        short = f"{time:.3f}"
        # A plan file has no exponents, as in `5e-05`.
        return short if float(short) == time else f"{Decimal(repr(time)):f}"

    def line(step: str, at: Mapping[str, Any]) -> str:
        duration = at.get("duration")
        return f"{text(at['start'])}: {step}" + ("" if duration is None else f" [{text(duration)}]")

    return tuple(map(line, plan["steps"], times))


def _plan_source(plan: PlanArgument) -> NativeSource:
    if isinstance(plan, Plan):
        return "plan", str(plan)
    if isinstance(plan, str):
        return source(plan, "plan")
    if isinstance(plan, os.PathLike):
        return path(plan, "plan")
    steps: List[object] = list(plan) if isinstance(plan, Iterable) else [None]
    texts = [step for step in steps if isinstance(step, str)]
    if len(texts) < len(steps):
        raise UsageError(
            f"`plan` is {type(plan).__name__}: not a plan, a text, a path or a list of steps",
            code="cli.usage",
            help="pass steps as str, such as `(move a b)`",
        )
    return text_source("\n".join(texts), "plan")


def _validation(data: Mapping[str, Any]) -> Validation:
    return Validation(data["decision"], data.get("cost"), data)


def read(domain: SourceArgument, problem: SourceArgument, *, context: Optional[Context] = None) -> Task:
    """Reads a domain and a problem.

    Raises `InputError` with all findings if a text cannot be used.
    """
    return Task(domain, problem, context=context)


def check(
    text: SourceArgument,
    problem: Optional[SourceArgument] = None,
    *,
    set: Union[Mapping[str, Any], Sequence[str]] = (),
    context: Optional[Context] = None,
) -> Validation:
    """Checks a domain, a domain and a problem, or a pipeline file, whose name ends in `.toml`. Contacts nothing.

    Mistakes are in `diagnostics` of the result; they raise nothing.
    """
    changes = settings(set)
    surroundings = (context or Context()).surroundings(set=changes)
    domain = source(text, "domain")
    if not isinstance(domain, tuple) and str(domain).endswith(".toml"):
        if problem is not None:
            raise UsageError("a pipeline file is checked without a problem", code="cli.usage")
        _, data = call(_native.check_pipeline, domain, "file", changes, surroundings)
    else:
        second = None if problem is None else source(problem, "problem")
        _, data = call(_native.check, domain, second, surroundings)
    return _validation(data)


def format(text: SourceArgument, *, context: Optional[Context] = None) -> str:
    """A PDDL text in planforge's layout, with comments and order kept. A file is read and not changed.

    Raises `InputError` if the text cannot be read.
    """
    _, data = call(_native.format, source(text, "text"), (context or Context()).surroundings())
    formatted: str = data["text"]
    return formatted


def compare(
    first: Union[Task, SourceArgument],
    second: Union[Task, SourceArgument],
    *,
    problems: Union[SourceArgument, Sequence[SourceArgument]] = (),
    second_problems: Union[SourceArgument, Sequence[SourceArgument]] = (),
    match_names: bool = False,
    max_states: int = 1_000_000,
    max_depth: Optional[int] = None,
    seed: int = 0,
    time_limit: Optional[float] = 300,
    context: Optional[Context] = None,
) -> Comparison:
    """Compares two tasks, or two domains on problems, by their behaviour.

    Two `Task`s: what each can execute and where the goal holds, the equivalence of the problems, and the exploration walk score (`seed` draws the walks).
    Two domains: every sequence of actions on `problems`, or on `second_problems` in the predicates of the second domain. `match_names` searches a
    renaming of the second. `max_states` limits the pairs of states, `max_depth` the length of sequences; what they cut is `undecided`.
    """
    surroundings = (context or Context()).surroundings()
    limits = _limits(time_limit)
    if isinstance(first, Task) and isinstance(second, Task):
        request: Dict[str, Any] = {
            "first": first._native,
            "second": second._native,
            "seed": seed,
            "nodes": max_states,
            "limits": limits,
        }
        _, data = call(_native.compare, request, surroundings)
        shown = data.get("behaviour") or {}
    elif isinstance(first, Task) or isinstance(second, Task):
        raise UsageError("a task is compared with a task, a domain with a domain", code="cli.usage")
    else:
        on, second_on = _sources(problems), _sources(second_problems)
        if not on:
            raise UsageError(
                "domains are compared on problems, and there is none",
                code="cli.usage",
                help="pass `problems`, or compare two tasks of `read`",
            )
        request = {
            "first": source(first, "first domain"),
            "second": source(second, "second domain"),
            "problems": on,
            "second_problems": second_on,
            "match_names": match_names,
            "max_states": max_states,
            "max_depth": max_depth,
            "limits": limits,
        }
        _, data = call(_native.compare_domains, request, surroundings)
        shortest = data.get("shortest")
        shown = {} if shortest is None else data["problems"][shortest]
    difference = shown.get("difference")
    return Comparison(
        data["decision"],
        None if difference is None else _difference(difference),
        tuple(map(Diagnostic.from_data, data["diagnostics"])),
        tuple(data.get("in_words", ())),
        (data.get("walks") or {}).get("score"),
        data,
    )


def _sources(given: Union[SourceArgument, Sequence[SourceArgument]]) -> List[NativeSource]:
    if isinstance(given, (str, os.PathLike)):
        return [source(given, "problem")]
    return [source(one, "problem") for one in given]


def _difference(data: Mapping[str, Any]) -> Difference:
    return Difference(
        data["kind"], data["by"], tuple(data["steps"]), data["why"], tuple(data.get("conditions", ()))
    )
