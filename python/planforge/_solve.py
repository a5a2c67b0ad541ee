"""Plans from texts in words."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._async import awaitable, current, resolve
from ._context import (
    Context,
    PathArgument,
    SourceArgument,
    optional_path,
    path,
    settings,
    source,
    text_source,
)
from ._errors import Error, UsageError
from ._models import ModelArgument, choose
from ._shown import Shown


if TYPE_CHECKING:
    import tempfile
    from pathlib import Path


class Question(str):
    """A question about the task, as a prompt with numbered choices: `input` is a function that answers it.

    The answer is the number of a choice, or words if the last choice asks for them. None, or the end of the input, is no answer.
    """

    text: str
    """The question alone."""
    choices: Tuple[str, ...]
    """Answers to choose from."""

    def __new__(cls, text: str, choices: Sequence[str]) -> "Question":
        numbered = "".join(f"  {number}  {choice}\n" for number, choice in enumerate(choices, 1))
        question = super().__new__(cls, f"\n{text}\n{numbered}> ")
        question.text = text
        question.choices = tuple(choices)
        return question


Given = Union[str, int, None]

Ask = Callable[[Question], Union[Given, Awaitable[Given]]]
"""Answers questions."""


@dataclass(frozen=True)
class OpenPoint:
    """A point that the text leaves open."""

    id: str
    """Names the point in `answers`."""
    question: str
    choices: Tuple[str, ...]
    """The two sides: what each means, and what follows from it."""
    status: str
    """`open`, `answered`, `decided-by-text`, `assumed` or `either-way`."""
    answer: str
    """The answer; empty if there is none."""
    follows: int
    """The choice that the plan follows, from 1; 0 if none."""


@dataclass(frozen=True)
class Trust:
    """What an answer rests on."""

    readings: int
    """Readings that were made."""
    usable: int
    """Readings that have PDDL without mistakes."""
    agree: int
    """Readings that allow the same steps and are done after the same ones."""
    models: Tuple[str, ...]
    """The models that made the readings."""
    unused_sentences: Tuple[str, ...]
    """Sentences of the text that became no part of the PDDL."""
    assumed_parts: Tuple[str, ...]
    """Parts of the PDDL that come from no sentence."""
    remarks: Tuple[str, ...]
    data: Mapping[str, Any] = field(repr=False)
    """The object of `trust.json`."""


@dataclass(frozen=True)
class Answer(Shown):
    """The answer to a task in words. Its text is one line: what was reached and what it rests on."""

    end: str
    """`planned`, `unsolvable`, `no-plan-found`, `needs-answers`, `unfinished`, `not-a-task` or `failed`."""
    line: str
    plan: Tuple[str, ...]
    """The steps; empty without a plan."""
    words: Optional[str]
    """The plan in sentences, or the reason why there is none."""
    optimal: bool
    """True if it is proven that no plan is cheaper."""
    domain: str
    problem: str
    points: Tuple[OpenPoint, ...]
    """The points that the text leaves open."""
    trust: Optional[Trust]
    """What the answer rests on; None if no reading can be used."""
    folder: Path
    """The folder of the task: text, readings, questions, plan and all runs. Without `folder` in the call it is removed with this object."""
    data: Mapping[str, Any] = field(repr=False)
    """The object of `planforge solve --json`."""
    _kept: Optional["tempfile.TemporaryDirectory[str]"] = field(default=None, repr=False, compare=False)

    @property
    def questions(self) -> Tuple[OpenPoint, ...]:
        """The points that wait for an answer."""
        return tuple(point for point in self.points if point.status == "open")

    def save(self, folder: PathArgument) -> Path:
        """Copies the folder of the task to one that does not exist yet. `planforge solve --continue` goes on there."""
        import shutil
        from pathlib import Path

        target = Path(path(folder, "folder"))
        try:
            shutil.copytree(self.folder, target)
        except FileExistsError:
            raise UsageError(f"{target} exists already", code="cli.usage", help="name another folder") from None
        return target

    def __str__(self) -> str:
        return self.line


def solve(
    text: Union[str, "os.PathLike[str]", None] = None,
    *,
    model: Union[ModelArgument, Sequence[ModelArgument], None] = None,
    domain: Optional[SourceArgument] = None,
    rules: Union[str, "os.PathLike[str]", None] = None,
    ask: Optional[Ask] = None,
    answers: Union[Mapping[str, Union[str, int]], PathArgument, None] = None,
    assume: bool = False,
    folder: Optional[PathArgument] = None,
    continued: Union[Answer, PathArgument, None] = None,
    say: Optional[str] = None,
    readings: Optional[int] = None,
    questions: int = 3,
    set: Union[Mapping[str, Any], Sequence[str]] = (),
    replay: Optional[PathArgument] = None,
    record: Optional[PathArgument] = None,
    context: Optional[Context] = None,
) -> Answer:
    """Plans a task that is described in words, as `planforge solve`.

    Models read the text several times and write PDDL. The readings are compared, and `ask` is asked only what the plan depends on.

    - `text`, `rules`: the words as `str`, or a file as a path. `domain`: PDDL, if it exists already.
    - `model`: a name, a Python object (see `Model`), or several models that share the readings.
    - `ask=input` asks on the terminal or in the notebook. Without it, open questions end the call with `needs-answers`; `answers` (by the id
      of the point, or a completed questions.toml) answers them in a second call with `continued`. `assume=True` asks nothing.
    - `folder`: the folder of the task. The same call again resumes after an interrupt, returns the same answer later, and pays no request twice.
      After an answer in own words, or with `set` and no `model`, go on with `continued`.
    - `readings`: the number of readings; three for a new text, else those of the folder.
    - `continued`: an answer or its folder to go on from, with `answers` or with a further statement `say`. Its texts are those of the folder.

    Raises `ModelError` if the model fails, `UsageError` and `InputError` for what is wrong in the request.
    """
    if continued is not None and any(one is not None for one in (text, folder, domain, rules)):
        raise UsageError(
            "`continued` names the texts and their folder: neither `text`, `rules`, `domain` nor `folder` goes with it",
            code="cli.usage",
        )
    import tempfile
    from pathlib import Path

    chosen = choose(model)
    changes = settings(set)
    kept: Optional["tempfile.TemporaryDirectory[str]"] = None
    if continued is None and folder is None:
        kept = tempfile.TemporaryDirectory(prefix="planforge-")
        folder = os.path.join(kept.name, "task")
    if isinstance(continued, Answer):
        kept, continued = continued._kept, continued.folder
    request: Dict[str, Any] = {
        "text": None if text is None else _words(text, "task"),
        "continued": optional_path(continued, "continued"),
        "say": say,
        "domain": None if domain is None else source(domain, "domain"),
        "rules": None if rules is None else _words(rules, "rules"),
        "folder": optional_path(folder, "folder"),
        "models": chosen.words,
        "readings": readings,
        "questions": questions,
        "ask": not assume,
        "answers": _answers(answers),
        "set": changes,
        "replay": optional_path(replay, "replay"),
        "record": optional_path(record, "record"),
    }
    if continued is None and _is_answered(request):
        request.update(
            continued=request["folder"], text=None, folder=None, domain=None, rules=None, replay=None, record=None
        )
    if readings is not None and not 1 <= readings <= 20 or questions < 0:
        raise UsageError("`readings` is a number from 1 to 20, and `questions` is not negative", code="cli.usage")
    asker = None if ask is None else _asker(ask)
    try:
        data = chosen.call(_native.solve, request, context=context, set=changes, ask=asker)
    except Error as error:
        if kept is not None and continued is None:
            # The folder is removed with this call.
            error.hints = tuple(hint for hint in error.hints if kept.name not in hint)
        raise
    return Answer(
        end=data["end"],
        line=data["line"],
        plan=tuple(data["plan"]),
        words=data.get("words"),
        optimal=data["optimal"],
        domain=data.get("domain", ""),
        problem=data.get("problem", ""),
        points=tuple(map(_point, data["points"])),
        trust=_trust(data.get("trust")),
        folder=Path(data["folder"]),
        data=data,
        _kept=kept,
    )


asolve = awaitable(solve)


def _is_answered(request: Mapping[str, Any]) -> bool:
    """True if the folder has the answer to these texts, and no version of them with further statements."""
    from pathlib import Path

    folder = Path(request["folder"])
    if not (folder / "answer").is_dir() or (folder / "task-2.nl").exists():
        return False

    def is_same(name: str, given: Any) -> bool:
        file = folder / name
        if given is None or not file.is_file():
            return given is None and not file.exists()
        try:
            text = given[1].encode() if isinstance(given, tuple) else Path(given).read_bytes()
            # A byte-order mark is not written.
            return bool(file.read_bytes() == text.removeprefix(b"\xef\xbb\xbf"))
        except (OSError, ValueError):
            # The native part says what is wrong with the file.
            return False

    return all(
        is_same(name, request[key])
        for name, key in (("task.nl", "text"), ("domain.nl", "rules"), ("domain.pddl", "domain"))
    )


def _words(text: Union[str, "os.PathLike[str]"], name: str) -> Any:
    return text_source(text, name) if isinstance(text, str) else path(text, name)


def _answers(answers: Any) -> Any:
    if isinstance(answers, Mapping):
        return {str(point): str(answer) for point, answer in answers.items()}
    return optional_path(answers, "answers")


def _asker(ask: Ask) -> Callable[[str, List[str]], Optional[str]]:
    loop = current()

    def answer(text: str, choices: List[str]) -> Optional[str]:
        try:
            given = resolve(ask(Question(text, choices)), loop)
        except EOFError:
            return None
        if given is None or isinstance(given, str):
            return given
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given)
        raise UsageError(
            f"`ask` returned an object of the type {type(given).__name__}",
            code="cli.usage",
            help="return the number of a choice, words, or None",
        )

    return answer


def _point(data: Mapping[str, Any]) -> OpenPoint:
    return OpenPoint(
        data["id"], data["question"], tuple(data["choices"]), data["status"], data["answer"], data["follows"]
    )


def _trust(data: Optional[Mapping[str, Any]]) -> Optional[Trust]:
    if data is None:
        return None
    return Trust(
        readings=data["readings"],
        usable=data["usable"],
        agree=data["agree"],
        models=tuple(data["models"]),
        unused_sentences=tuple(sentence["text"] for sentence in data["unused_sentences"]),
        assumed_parts=tuple(data["assumed_parts"]),
        remarks=tuple([*data["left_out"], *data["remarks"]]),
        data=data,
    )
