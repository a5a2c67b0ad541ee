"""Models that are Python objects."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, FrozenSet, List, Optional, Protocol, Sequence, Tuple, Union

from . import _async
from ._context import Context, call, is_text
from ._errors import Error, UsageError

Message = Dict[str, str]
"""A message of a conversation: `role` is `system`, `user` or `assistant`; `content` is the text."""


class Model(Protocol):
    """An object that answers requests.

    planforge also takes a function with these arguments. Arguments that it does not have are not passed; `max_tokens: int | None`,
    `stop: list[str]` and `schema: dict | None` are passed where it has them. With an attribute `parallel` above 1 it gets that many requests at a time,
    each on a thread of its own, if the call has as many `jobs`.
    """

    def complete(
        self, messages: List[Message], *, n: int, temperature: Optional[float], seed: Optional[int]
    ) -> Union[str, Sequence[str]]:
        """Returns one reply as `str`, or a list of `n` replies. After one reply, the rest is asked for with further calls."""
        ...


Replies = Union[str, Sequence[str]]
"""One reply, or as many as the request asks for."""

ModelArgument = Union[str, Model, Callable[..., Union[Replies, Awaitable[Replies]]]]
"""A model: a name such as `openai:NAME`, `anthropic:NAME` or `local:FILE.gguf`, or a Python object."""

_SETTINGS = ("n", "temperature", "seed", "max_tokens", "stop", "schema")


@dataclass
class Chosen:
    """The models of a call for the native part."""

    words: List[str]
    complete: Optional[Callable[[str], str]] = None
    name: str = ""
    parallel: int = 1
    raised: Optional[BaseException] = None
    """The newest exception of the object."""

    def call(
        self,
        function: Callable[..., Tuple[int, str]],
        *arguments: Any,
        context: Optional[Context],
        set: Sequence[str] = (),
        ask: Optional[Callable[[str, List[str]], Optional[str]]] = None,
    ) -> Any:
        """The result of a native function that gets the models. The exception of the object is the cause of the error."""
        surroundings = (context or Context()).surroundings(
            set=set, ask=ask, model=self.complete, model_name=self.name, parallel=self.parallel
        )
        try:
            return call(function, *arguments, surroundings)[1]
        except Error as error:
            if error.code == "python.model":
                error.__cause__ = self.raised
            raise


def choose(model: Union[ModelArgument, Sequence[ModelArgument], None]) -> Chosen:
    """The models of an argument. At most one of them is a Python object."""
    chosen = Chosen([])
    for one in model if isinstance(model, (list, tuple)) else [] if model is None else [model]:
        if isinstance(one, str):
            chosen.words.append(f"name:{one}")
            continue
        function = getattr(one, "complete", one)
        if not callable(function):
            raise UsageError(
                f"`model` is {type(one).__name__}: not a name, not callable, and without a method `complete`",
                code="cli.usage",
                help="pass a str such as `openai:NAME`, a function, or an object with `complete`",
            )
        if chosen.complete is not None:
            raise UsageError(
                "a call takes one Python object as a model",
                code="cli.usage",
                help="write one object that asks several models in turn",
            )
        chosen.words.append("client")
        chosen.name, chosen.parallel = _name(one), _parallel(one)
        chosen.complete = _completer(function, chosen)
    return chosen


def _name(model: Any) -> str:
    """The name in records: the attribute `name`, else that of the function or class. Lambdas are told apart by their code."""
    for name in (getattr(model, "name", None), getattr(model, "__qualname__", None)):
        if isinstance(name, str) and name and is_text(name):
            code = getattr(model, "__code__", None)
            return f"{name} {_digest(code)}" if name.endswith("<lambda>") and code is not None else name
    return type(model).__name__


def _digest(code: Any) -> str:
    """Of the code of a lambda, the same in each session."""
    from zlib import crc32

    constants = [one for one in code.co_consts if not hasattr(one, "co_code")]
    text = repr((code.co_code, code.co_names, code.co_freevars, constants))
    return f"{crc32(text.encode(errors='replace')):08x}"


def _parallel(model: Any) -> int:
    """The attribute `parallel`: how many requests the model takes at a time."""
    parallel = getattr(model, "parallel", 1)
    if isinstance(parallel, int) and 1 <= parallel <= 256:
        return parallel
    raise UsageError(
        f"`parallel` of the model is {parallel!r}",
        code="cli.usage",
        help="set it to the number of requests that the model takes at a time, 1 to 256",
    )


def _completer(function: Callable[..., Any], chosen: Chosen) -> Callable[[str], str]:
    """Answers a request in JSON with replies or a failure in JSON."""
    accepted = _accepted(function)
    current = _async.current()

    def complete(request_text: str) -> str:
        request = json.loads(request_text)
        sampling = request.get("sampling", {})
        wanted = sampling.get("n") or 1
        values: Dict[str, Any] = {name: sampling.get(name) for name in _SETTINGS}
        values.update(n=wanted, stop=sampling.get("stop", []), schema=request.get("schema"))
        if values["schema"] is not None and "schema" not in accepted:
            return _failure(
                "python.schema",
                f"the request asks for a reply by the schema `{values['schema'].get('name')}`, and `{chosen.name}` takes none",
                "add an argument `schema`, or use a pipeline that asks for text",
            )
        try:
            given = {name: values[name] for name in _SETTINGS if name in accepted}
            returned = _async.resolve(function(request["messages"], **given), current)
        except Exception as error:
            if current is not None and current[0].is_cancelled():
                # An interruption is not recorded as a failure of the model.
                return _failure("python.cancelled", "the call was cancelled", "resume the run", kind="cancelled")
            chosen.raised = error
            return _failure(
                "python.model",
                f"the model `{chosen.name}` raised {type(error).__name__}: {error}",
                "the exception is the `__cause__` of this one",
            )
        replies, wrong = _replies(returned, wanted)
        if wrong:
            return _failure(
                "python.reply",
                f"the model `{chosen.name}` returned {wrong}, and the request asks for {wanted}",
                "return a str for one reply, or a list of `n` str",
            )
        found = [{"content": reply, "finish": "stop"} for reply in replies]
        return json.dumps({"replies": {"replies": found, "model": chosen.name}})

    return complete


def _accepted(function: Callable[..., Any]) -> FrozenSet[str]:
    """The names of the settings that a function takes by keyword."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # Some functions of C have no signature.
        return frozenset()
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters):
        return frozenset(_SETTINGS)
    keywords = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(one.name for one in parameters if one.kind in keywords).intersection(_SETTINGS)


def _replies(returned: Any, wanted: int) -> Tuple[List[str], str]:
    """The replies, or what is wrong with them as a noun phrase."""
    if isinstance(returned, str):
        replies: List[str] = [returned]
    elif isinstance(returned, (list, tuple)):
        replies = list(returned)
        if len(replies) != wanted:
            return [], f"{len(replies)} replies"
    elif inspect.iscoroutine(returned):
        returned.close()
        return [], "a coroutine, which only `asolve`, `arun` and `aresume` await"
    else:
        return [], f"an object of the type {type(returned).__name__}"
    for reply in replies:
        if not isinstance(reply, str):
            return [], f"a list with an object of the type {type(reply).__name__}"
        if not is_text(reply):
            return [], "a reply with half of a surrogate pair"
    return replies, ""


def _failure(code: str, message: str, help: str, *, kind: str = "provider") -> str:
    """A failure as JSON. `kind` is its class."""
    # An exception may have any text.
    message = message.encode(errors="replace").decode()
    return json.dumps({"failure": {"class": kind, "code": code, "message": message, "help": help}})
