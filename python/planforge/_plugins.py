"""Plugins that are classes, in the interpreter."""

from __future__ import annotations

import os
import re
from typing import Any, Dict

from ._errors import UsageError

# Modules of bases that are not a part of a plugin.
_LIBRARIES = ("abc", "builtins", "planforge_plugin", "typing")


def described(plugin: type) -> Dict[str, Any]:
    """A class for the native part: its id and kind, its code for records, and a function that serves it."""
    import hashlib
    import inspect

    # Its bases are a part of it.
    own = [one for one in plugin.__mro__ if one.__module__.split(".")[0] not in _LIBRARIES]
    members = [(name, inspect.unwrap(value)) for one in own for name, value in vars(one).items()]
    methods = [value for _, value in members if inspect.isfunction(value)]
    origin = methods[0].__code__.co_filename if methods else f"<{plugin.__qualname__}>"
    code = ""
    for file in dict.fromkeys(one.__code__.co_filename for one in methods):
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                code += stream.read()
        except OSError:  # A cell of a notebook, or a prompt.
            code += "".join(_source(one) for one in methods if one.__code__.co_filename == file)
    # Two classes that one function made have the same code.
    code += repr([one for one in members if not one[0].startswith("__") and _is_constant(one[1])])
    return {
        "id": _id(plugin, os.path.dirname(origin)),
        "kind": str(getattr(plugin, "kind", "")),
        "origin": origin,
        "sha256": hashlib.sha256(code.encode(errors="replace")).hexdigest(),
        "serve": lambda source, sink: _serve(plugin, source, sink),
    }


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _source(method: Any) -> str:
    import inspect

    try:
        return inspect.getsource(method)
    except OSError:
        return repr(method.__code__.co_code)


def _id(plugin: type, folder: str) -> str:
    """The attribute `id` of the class, else that of `plugin.toml` beside its file."""
    given = getattr(plugin, "id", None)
    if isinstance(given, str) and re.fullmatch("[a-z0-9-]+", given):
        return given
    try:
        with open(os.path.join(folder, "plugin.toml"), encoding="utf-8") as manifest:
            found = re.search(r"""^id\s*=\s*["']([a-z0-9-]+)["']""", manifest.read(), re.M)
    except OSError:
        found = None
    if found is not None:
        return found[1]
    raise UsageError(
        f"the plugin class `{plugin.__qualname__}` has no id",
        code="cli.usage",
        help='write `id = "my-check"` into the class, or into a plugin.toml beside its file',
    )


def _serve(plugin: type, source: int, sink: int) -> None:
    """Serves the messages of a program until the host closes them, on a thread."""
    import threading
    from contextlib import suppress

    from planforge_plugin.program import Program

    messages, answers = os.fdopen(source, "rb"), os.fdopen(sink, "wb")

    def serve() -> None:
        try:
            Program(plugin, messages, answers).serve()
        finally:
            for stream in (messages, answers):
                # An answer that nobody reads any more.
                with suppress(OSError):
                    stream.close()

    threading.Thread(target=serve, name=f"planforge-plugin-{plugin.__qualname__}", daemon=True).start()
