"""Errors, and findings with their places."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type


@dataclass(frozen=True)
class Place:
    """A place in a text: `file` is a path or the role of a text (`domain`, `problem`, `plan`); line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """A finding. `severity` is `error`, `warning` or `advice`; `planforge explain CODE` explains the code."""

    code: str
    severity: str
    message: str
    place: Optional[Place]
    help: Tuple[str, ...]

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.severity}: {self.message} [{self.code}]"

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> "Diagnostic":
        place = Place(data["file"], data["line"], data["column"]) if data["line"] else None
        return Diagnostic(data["code"], data["severity"], data["message"], place, tuple(data.get("help", ())))


@dataclass(eq=False, repr=False)
class Error(Exception):
    """Something that could not be done. The subclass says what kind of thing it is."""

    message: str
    """What is wrong, one line a problem."""
    code: str = field(kw_only=True)
    """Stable code `area.name`; `planforge explain CODE` explains it."""
    help: Optional[str] = field(default=None, kw_only=True)
    """The first suggested action."""
    diagnostics: Tuple[Diagnostic, ...] = field(default=(), kw_only=True)
    """Findings in texts."""
    status: int = field(default=30, kw_only=True)
    """Exit code of the command for the same error."""
    hints: Tuple[str, ...] = field(default=(), kw_only=True)
    """Ways to continue."""

    @property
    def place(self) -> Optional[Place]:
        """The place of the first finding that is an error and has one."""
        places = (found.place for found in self.diagnostics if found.severity == "error")
        return next((place for place in places if place), None)

    def __str__(self) -> str:
        lines: List[str] = [self.message]
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join([*lines, *self.hints])

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.message, self.__dict__.copy())


def _rebuild(error: Type[Error], message: str, state: Dict[str, Any]) -> Error:
    rebuilt = error.__new__(error, message)
    rebuilt.__dict__.update(state)
    return rebuilt


class UsageError(Error, ValueError):
    """The arguments contradict each other, or name what does not exist."""


class InputError(Error):
    """A file cannot be read, or a PDDL text or pipeline file has mistakes: `diagnostics` has all of them."""


class ModelError(Error):
    """A language model, its server or the Python object in its place failed, or a replay lacks its reply."""


class LimitError(Error):
    """A limit on time, memory or search nodes, or a cap on a model's use, was reached."""


class PluginError(Error):
    """A plugin is missing, cannot be loaded or broke."""


class SystemFailure(Error):
    """Files, processes or the operating system failed, or planforge has a bug."""


class NoPlan(Error):
    """`Task.plan` has no plan to return. `outcome` is `proven-unsolvable`, `exhausted`, `limit-reached` or `unsupported`."""

    outcome: str
    explanation: Tuple[str, ...]


_BY_STATUS: Dict[int, Type[Error]] = {
    10: InputError,
    11: ModelError,
    20: InputError,
    **dict.fromkeys(range(21, 26), LimitError),
    30: UsageError,
    31: InputError,
    32: InputError,
    33: PluginError,
    34: ModelError,
    35: ModelError,
    36: SystemFailure,
    39: SystemFailure,
}


def from_native(document: str) -> Error:
    """The error of a use case from its JSON form."""
    data = json.loads(document)
    diagnostics = tuple(map(Diagnostic.from_data, data["diagnostics"]))
    first = next((found for found in diagnostics if found.severity == "error"), None)
    return _BY_STATUS.get(data["exit"], Error)(
        data["message"],
        code=data["code"],
        # That of the finding whose code and place these are.
        help=data["help"] if data["failures"] or first is None else next(iter(first.help), None),
        diagnostics=diagnostics,
        status=data["exit"],
        hints=tuple(data["hints"]),
    )
