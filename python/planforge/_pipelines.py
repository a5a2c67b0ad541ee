"""Runs of pipeline files, and evaluations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._async import awaitable
from ._context import Context, PathArgument, call, optional_path, path, paths, settings
from ._errors import UsageError
from ._models import ModelArgument, choose
from ._pddl import _lines
from ._shown import Shown

if TYPE_CHECKING:
    from pathlib import Path

    import pandas

Settings = Union[Mapping[str, Any], Sequence[str]]
"""Changes of a pipeline file: `{"llm.main.max_tokens": 4096}` or `["llm.main.max_tokens=4096"]`."""


@dataclass(frozen=True)
class TaskVerdict:
    """The verdict on a task of a run."""

    task: str
    verdict: Optional[str]
    """`accepted`, `planned`, `written`, `rejected`, `unsolvable`, `undecided`, `unusable` or `failed`; None if the run did not end."""
    message: str
    """The reason of a verdict that is not good, else empty."""
    domain: Optional[str]
    problem: Optional[str]
    plan: Optional[Tuple[str, ...]]
    """The steps of the plan, if there is one; as lines with times in a task with time."""


@dataclass(frozen=True)
class Run(Shown):
    """A run of a pipeline."""

    state: str
    """`finished`, `interrupted` or `parked`: requests wait for replies in batch files."""
    tasks: Tuple[TaskVerdict, ...]
    folder: Path
    """The run folder, from which `resume` goes on."""
    data: Mapping[str, Any] = field(repr=False)
    """The object of `planforge run --json`."""


@dataclass(frozen=True)
class Evaluation(Shown):
    """An evaluation."""

    out: Path
    """The folder with the tables and run folders."""
    cells: int
    """Cells of the matrix."""
    open_cells: int
    """Cells that are not finished; `evaluate(out=..., resume=True)` goes on."""
    failed_tasks: int
    """Tasks that broke."""
    data: Mapping[str, Any] = field(repr=False)
    """The object of `planforge evaluate --json`."""

    def frame(self, table: str = "tasks") -> "pandas.DataFrame":
        """A table as a data frame: `tasks` (one row a trial), `cells`, or another CSV file of the folder. Needs pandas (`pip install planforge[pandas]`)."""
        file = self.out / f"{table}.csv"
        if not file.is_file():
            known = ", ".join(f"`{one.stem}`" for one in sorted(self.out.glob("*.csv")))
            raise UsageError(f"there is no table `{table}`", code="cli.usage", help=f"the tables are {known}")
        try:
            import pandas
        except ImportError as error:
            raise UsageError(
                "a data frame needs pandas", code="python.extra", help="pip install 'planforge[pandas]'"
            ) from error
        return pandas.read_csv(file)


@dataclass(frozen=True)
class Recommendation(Shown):
    """The method to use, from the results of an evaluation."""

    use: Optional[str]
    """The method; None if none is good enough or cheap enough, or if that is not known."""
    answer: str
    """`use`, `need-not-reached`, `over-budget`, `money-unknown` or `nothing-judged`."""
    text: str
    """The answer in its first line, then the other methods, then what the results cannot show."""
    data: Mapping[str, Any] = field(repr=False)
    """The object of `planforge evaluate recommend --json`."""


def run(
    pipeline: PathArgument,
    *,
    tasks: Union[PathArgument, Iterable[PathArgument]] = (),
    suites: Union[PathArgument, Iterable[PathArgument]] = (),
    model: Optional[ModelArgument] = None,
    set: Settings = (),
    seed: Optional[int] = None,
    replay: Optional[PathArgument] = None,
    record: Optional[PathArgument] = None,
    folder: PathArgument = "runs",
    jobs: int = 1,
    context: Optional[Context] = None,
) -> Run:
    """Runs a pipeline file on tasks, as `planforge run`. Everything is recorded below `folder`.

    `tasks` are stems of task files such as `suites/parcels/p01`, `suites` folders. `model`: a name in the place of `[llm.main]`, or a Python object in the
    place of every model table. An interrupt leaves a run that `resume` goes on with.
    """
    chosen = choose(model)
    changes = settings(set)
    request = {
        "pipeline": path(pipeline, "pipeline"),
        "tasks": paths(tasks, "tasks"),
        "suites": paths(suites, "suites"),
        "model": chosen.words[0] if chosen.words else "file",
        "set": changes,
        "seed": seed,
        "replay": optional_path(replay, "replay"),
        "record": optional_path(record, "record"),
        "folder": path(folder, "folder"),
        "jobs": _number("jobs", jobs),
    }
    if len(chosen.words) > 1:
        raise UsageError("a run takes one model", code="cli.usage", help="`evaluate` compares models")
    return _run(chosen.call(_native.run, request, context=context, set=changes))


def resume(
    folder: PathArgument,
    *,
    model: Optional[ModelArgument] = None,
    answers: Union[PathArgument, Iterable[PathArgument]] = (),
    jobs: int = 1,
    context: Optional[Context] = None,
) -> Run:
    """Continues an interrupted or waiting run. Recorded requests are not sent again.

    `model` is the Python object that the run was started with, if it was one; an object with another name is refused. `answers`: files with
    replies to waiting requests.
    """
    chosen = choose(model)
    if chosen.words not in ([], ["client"]):
        raise UsageError("`model` of `resume` is the Python object of the run", code="cli.usage")
    arguments = path(folder, "folder"), paths(answers, "answers"), _number("jobs", jobs)
    return _run(chosen.call(_native.resume, *arguments, context=context))


def evaluate(
    matrix: Optional[PathArgument] = None,
    *,
    out: PathArgument,
    suites: Union[PathArgument, Iterable[PathArgument]] = (),
    pipelines: Union[PathArgument, Iterable[PathArgument]] = (),
    seeds: Union[str, Iterable[int], None] = None,
    tasks: Optional[int] = None,
    models: Union[str, Iterable[str]] = (),
    set: Settings = (),
    resume: bool = False,
    retry_errors: bool = False,
    only: Union[str, Iterable[str]] = (),
    exclude: Union[str, Iterable[str]] = (),
    replay: Union[PathArgument, Iterable[PathArgument], None] = None,
    record: Optional[PathArgument] = None,
    jobs: int = 4,
    cells: int = 1,
    context: Optional[Context] = None,
) -> Evaluation:
    """Runs pipelines over suites with several seeds, as `planforge evaluate`.

    `matrix` is a file that names suites, pipelines, models and seeds; or they are given here. `seeds`: `"42-45"` or numbers. `models` are names, each a
    column. `out`: the folder for tables and run folders; after an interrupt, the same call with `resume=True` goes on.
    """
    changes = settings(set)
    texts = [[given] if isinstance(given, str) else list(given) for given in (models, only, exclude)]
    for model in texts[0]:
        if not isinstance(model, str):
            raise UsageError("the models of an evaluation are names", code="cli.usage", help="`run` takes a Python object")
    request = {
        "matrix": optional_path(matrix, "matrix"),
        "suites": paths(suites, "suites"),
        "pipelines": paths(pipelines, "pipelines"),
        "seeds": seeds if seeds is None or isinstance(seeds, str) else ",".join(map(str, seeds)),
        "tasks": tasks,
        "models": texts[0],
        "set": changes,
        "out": path(out, "out"),
        "resume": resume,
        "retry_errors": retry_errors,
        "only": texts[1],
        "exclude": texts[2],
        "replay": paths(replay or (), "replay"),
        "record": optional_path(record, "record"),
        "jobs": _number("jobs", jobs),
        "cells": _number("cells", cells),
    }
    _, data = call(_native.evaluate, request, (context or Context()).surroundings(set=changes))
    from pathlib import Path

    return Evaluation(Path(data["out"]), data["cells"], data["open_cells"], data["failed_tasks"], data["evaluation"] or {})


def recommend(
    evaluation: Union[Evaluation, PathArgument],
    *,
    budget_usd: Optional[float] = None,
    need: Optional[float] = None,
    context: Optional[Context] = None,
) -> Recommendation:
    """Names the method to use according to an evaluation or its folder, as `planforge evaluate recommend`. Runs nothing.

    `budget_usd`: the most that a task may cost on average. `need`: the share of tasks that has to be right, in per cent.
    """
    folder = path(evaluation.out if isinstance(evaluation, Evaluation) else evaluation, "evaluation")
    _, data = call(_native.recommend, folder, budget_usd, need, (context or Context()).surroundings())
    found = data["recommendation"]
    return Recommendation(found.get("use"), found["answer"], data["text"], found)


arun, aresume, aevaluate = awaitable(run), awaitable(resume), awaitable(evaluate)


def _number(name: str, value: int) -> int:
    if not 1 <= value <= 256:
        raise UsageError(f"`{name}` is {value}, not a number from 1 to 256", code="cli.usage")
    return value


def _run(data: Mapping[str, Any]) -> Run:
    from pathlib import Path

    return Run(data["state"], tuple(map(_verdict, data["tasks"])), Path(data["folder"]), data)


def _verdict(report: Mapping[str, Any]) -> TaskVerdict:
    verdict = report.get("verdict") or {}
    candidate = report.get("candidate") or {}
    outcome = candidate.get("plan") or {}
    plans = outcome.get("plans") or []
    message = verdict.get("message") or verdict.get("failure", {}).get("message", "")
    return TaskVerdict(
        report["task"],
        verdict.get("verdict"),
        message,
        candidate.get("domain"),
        candidate.get("problem"),
        _lines(plans[0]) if plans else None,
    )
