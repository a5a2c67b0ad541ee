"""What a program supplies to the calls, and how calls reach the native part."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from . import _native
from ._async import Progress, current
from ._command import PLUGINS, worker
from ._errors import InputError, UsageError, from_native

Event = Dict[str, Any]
"""Progress: `kind` is `notice`, `findings`, `work`, `run-started`, `recorded`, `plugin`, `call`, `request` or `run-ended`, with further keys by kind."""

PathArgument = Union[str, "os.PathLike[str]"]
"""A path."""

SourceArgument = Union[str, "os.PathLike[str]"]
"""A PDDL text, or the path of its file."""

T = TypeVar("T")

NativeSource = Union[Tuple[str, str], "os.PathLike[str]", str]


@dataclass(frozen=True)
class Context:
    """What a program supplies to a call, besides the request. All functions take one as `context`.

    The functions in it are called on the thread that called planforge, one at a time. An exception in one of them ends the call and is raised.
    """

    on_event: Optional[Callable[[Event], object]] = None
    """Receives the progress of the call."""
    consent: Optional[Callable[[str], bool]] = None
    """Decides about a server or program that a pipeline file names and that the next two do not allow. The text says what would happen.

    It returns True or False. Anything else raises TypeError, and nothing is sent.
    """
    allow_hosts: Sequence[str] = ()
    """Servers that may get requests and keys, as `--allow-host` of the command."""
    allow_commands: bool = False
    """True to start the programs that pipeline files name, as `--allow-commands`."""
    plugins: Sequence[Union[PathArgument, Type[Any]]] = ()
    """Folders with plugins, searched before those of the variable PLANFORGE_PLUGINS; and classes of `planforge_plugin`, which run in this interpreter.

    The id of a class is its attribute `id`, else that of a `plugin.toml` beside its file. It takes the place of other plugins of this id.
    """
    isolate_plugins: bool = False
    """True to run plugin libraries in a child process each."""
    variables: Optional[Mapping[str, str]] = None
    """Environment variables; None for `os.environ`."""

    def surroundings(
        self,
        *,
        set: Sequence[str] = (),
        ask: Optional[Callable[[str, List[str]], Optional[str]]] = None,
        model: Optional[Callable[[str], str]] = None,
        model_name: str = "",
        parallel: int = 1,
    ) -> Dict[str, Any]:
        """The dict that the native part takes."""
        variables = os.environ if self.variables is None else self.variables
        given: Any = self.plugins
        plugins = [given] if isinstance(given, (str, os.PathLike, type)) else list(given)
        classes = [_described(one) for one in dict.fromkeys(one for one in plugins if isinstance(one, type))]
        ids = [one["id"] for one in classes]
        twice = next((one for one in ids if ids.count(one) > 1), None)
        if twice is not None:
            raise UsageError(
                f"two plugin classes have the id `{twice}`", code="cli.usage", help="give one of them another id"
            )
        folders = [one for one in plugins if not isinstance(one, type)]
        # An empty entry would mean the working directory.
        search_path = [folder for folder in paths(folders, "plugins") if folder]
        search_path += filter(None, variables.get("PLANFORGE_PLUGINS", "").split(os.pathsep))
        if os.path.isdir(PLUGINS):
            search_path.append(PLUGINS)
        receiver = self.on_event
        return {
            "variables": {name: value for name, value in variables.items() if is_text(name) and is_text(value)},
            "plugins": search_path,
            "plugin_classes": classes,
            "isolate_plugins": self.isolate_plugins,
            "worker": worker(),
            "allow_hosts": [self.allow_hosts] if isinstance(self.allow_hosts, str) else list(self.allow_hosts),
            "allow_commands": self.allow_commands,
            "set": list(set),
            "consent": self.consent,
            "on_event": None if receiver is None else lambda event: receiver(json.loads(event)),
            "ask": ask,
            "model": model,
            "model_name": model_name,
            "parallel": parallel,
            "cancellation": None,
        }


def _described(plugin: Type[Any]) -> Dict[str, Any]:
    from ._plugins import described

    return described(plugin)


def is_text(text: str) -> bool:
    """True if UTF-8 can hold the text."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def events(function: Callable[..., T], *arguments: Any, context: Optional[Context] = None, **more: Any) -> Progress[Event, T]:
    """Calls a function on a thread and iterates over its events: `for event in events(run, "llm-p.toml", tasks="p01"): ...`.

    They are not passed to `on_event` of the context. `result` of the iterator is what the function returned.
    """
    given = context or Context()
    return Progress(lambda report: function(*arguments, context=replace(given, on_event=report), **more))


def native(function: Callable[..., T], *arguments: Any) -> T:
    """Calls a native function, whose last argument is the surroundings."""
    waiting = current()
    if waiting is not None:
        arguments = (*arguments[:-1], {**arguments[-1], "cancellation": waiting[0]})
    try:
        return function(*arguments)
    except _native.NativeError as error:
        raise from_native(error.args[0]) from None


def call(function: Callable[..., Tuple[int, str]], *arguments: Any) -> Tuple[int, Any]:
    """Calls a native function that returns JSON. Returns the status and the result."""
    status, result = native(function, *arguments)
    return status, json.loads(result)


def source(argument: SourceArgument, name: str) -> NativeSource:
    """A PDDL text with its name in findings, or a path."""
    if isinstance(argument, str):
        if argument[:1] in ("", "(", ";") or "\n" in argument or argument.lstrip()[:1] == "(":
            return text_source(argument, name)
        return argument
    return path(argument, name)


def text_source(text: str, name: str) -> Tuple[str, str]:
    """A text with its name in findings."""
    if not is_text(text):
        raise InputError(
            f"the {name} has half of a surrogate pair, which no file can hold",
            code="pddl.invalid-utf8",
            help="read the text with errors='replace'",
            status=31,
        )
    return name, text


def path(argument: PathArgument, name: str) -> str:
    """A path as `str`."""
    given: object = argument
    if isinstance(given, (str, os.PathLike)):
        shown: object = os.fspath(given)
        if isinstance(shown, str):
            return shown
    raise UsageError(f"`{name}` is {type(given).__name__}, not a str or a path", code="cli.usage")


def paths(argument: Union[PathArgument, Iterable[PathArgument]], name: str) -> List[str]:
    """One path or several."""
    if isinstance(argument, (str, os.PathLike)):
        return [path(argument, name)]
    return [path(one, name) for one in argument]


def optional_path(argument: Optional[PathArgument], name: str) -> Optional[str]:
    """A path, if one is given."""
    return None if argument is None else path(argument, name)


def settings(set: Union[Mapping[str, Any], Sequence[str]]) -> List[str]:
    """Changes of a pipeline file as `KEY=VALUE`. Values of a mapping are written as TOML."""
    if not isinstance(set, Mapping):
        return [set] if isinstance(set, str) else list(set)
    return [f"{key}={_toml(value, str(key))}" for key, value in set.items()]


def _toml(value: object, key: str) -> str:
    """A value in TOML, on one line. `key` is its key in a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, str) and is_text(value):
        # TOML has the escapes of JSON, and one more character that needs one.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(one, key) for one in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_toml_key(name, key)} = {_toml(one, key)}' for name, one in value.items())}}}"
    wrong = "half of a surrogate pair" if isinstance(value, str) else f"an object of the type {type(value).__name__}"
    raise UsageError(
        f"the value of `{key}` in `set` has {wrong}, which TOML cannot hold",
        code="cli.usage",
        help="pass bool, int, float, str, lists and mappings; leave out a key that has no value",
    )


def _toml_key(name: object, key: str) -> str:
    if isinstance(name, str):
        return _toml(name, key)
    raise UsageError(
        f"the value of `{key}` in `set` has a key of the type {type(name).__name__}",
        code="cli.usage",
        help="the keys of a mapping are str",
    )


