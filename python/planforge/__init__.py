"""planforge: plans from texts, PDDL tools without a model, and evaluations of language models that plan.

    import planforge as pf

    task = pf.read("domain.pddl", "p01.pddl")
    plan = task.plan(time_limit=5)
    print(plan.cost, plan.words())
    assert task.validate(plan)

    answer = pf.solve("There are three rooms in a row. ...", model="openai:gpt-5", ask=input)
    print(answer, answer.plan)

A PDDL text or plan is given as an `os.PathLike`, which is a file, or as a `str`: one that begins with `(` or `;` or has a line break is the text, any
other is a path. Results have the fields of the command's `--json`; `data` of a result is that object. What cannot be done raises an `Error` with
`code`, `help` and `place`.
"""

from __future__ import annotations

try:
    from . import _native as _native
except ImportError as error:
    raise ImportError(
        f"the native part of planforge cannot be loaded: {error}. Install a wheel for this platform and CPython 3.10 or newer; "
        "`tools/wheel` of a checkout builds one"
    ) from error

from ._native import __version__

# The module `typing` takes a tenth of the time of an import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

    from ._async import Progress
    from ._context import Context, Event, events
    from ._errors import (
        Diagnostic,
        Error,
        InputError,
        LimitError,
        ModelError,
        NoPlan,
        Place,
        PluginError,
        SystemFailure,
        UsageError,
    )
    from ._models import Model
    from ._pddl import (
        Array,
        Comparison,
        Difference,
        Picture,
        Pictures,
        Plan,
        Sample,
        Search,
        State,
        States,
        Task,
        Validation,
        check,
        compare,
        format,
        read,
    )
    from ._pipelines import (
        Evaluation,
        Recommendation,
        Run,
        TaskVerdict,
        aevaluate,
        aresume,
        arun,
        evaluate,
        recommend,
        resume,
        run,
    )
    from ._solve import Answer, OpenPoint, Question, Trust, asolve, solve

# The modules of the names above. Each is imported when one of its names is used: the command needs none of them.
_MODULES = ("_errors", "_async", "_context", "_pddl", "_models", "_pipelines", "_solve")


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module

        for module in _MODULES:
            imported = import_module(f".{module}", __name__)
            if name in vars(imported):
                globals()[name] = vars(imported)[name]
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Answer",
    "Array",
    "Comparison",
    "Context",
    "Diagnostic",
    "Difference",
    "Error",
    "Evaluation",
    "Event",
    "InputError",
    "LimitError",
    "Model",
    "ModelError",
    "NoPlan",
    "OpenPoint",
    "Picture",
    "Pictures",
    "Place",
    "Plan",
    "PluginError",
    "Progress",
    "Question",
    "Recommendation",
    "Run",
    "Sample",
    "Search",
    "State",
    "States",
    "SystemFailure",
    "Task",
    "TaskVerdict",
    "Trust",
    "UsageError",
    "Validation",
    "__version__",
    "aevaluate",
    "aresume",
    "arun",
    "asolve",
    "check",
    "compare",
    "evaluate",
    "events",
    "format",
    "read",
    "recommend",
    "resume",
    "run",
    "solve",
]
