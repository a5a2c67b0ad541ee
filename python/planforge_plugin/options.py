"""Options of a plugin: their JSON schema, and their values as attributes.

A class declares its options as a dict of defaults, as a dataclass, or as a JSON schema of an object.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, Dict, List, Literal, Union, get_args, get_origin

_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def options_schema(declared: Any) -> Dict[str, Any]:
    """The JSON schema of the declared options. An option of another name is an error for the host."""
    if _is_schema(declared):
        return declared
    if dataclasses.is_dataclass(declared):
        return _dataclass_schema(declared)
    properties = {name: _default_schema(value) for name, value in declared.items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def read_options(declared: Any, given: Dict[str, Any]) -> Any:
    """The values of the options, each an attribute: those of the pipeline file, else the defaults."""
    if dataclasses.is_dataclass(declared):
        return _make(declared, given)
    if _is_schema(declared):
        defaults = {name: one["default"] for name, one in declared["properties"].items() if "default" in one}
    else:
        defaults = declared
    return types.SimpleNamespace(**{**defaults, **given})


def _is_schema(declared: Any) -> bool:
    return isinstance(declared, dict) and declared.get("type") == "object" and "properties" in declared


def _default_schema(value: Any) -> Dict[str, Any]:
    if value is None:
        return {"default": None}
    if type(value) not in _NAMES:
        kinds = ", ".join(kind.__name__ for kind in _NAMES)
        raise TypeError(f"the default of an option is one of {kinds}, not {value!r}")
    return {"type": _NAMES[type(value)], "default": value}


def _dataclass_schema(declared: Any) -> Dict[str, Any]:
    hints = typing.get_type_hints(declared)
    properties, required = {}, []
    for field in dataclasses.fields(declared):
        one = _hint_schema(hints[field.name])
        if "about" in field.metadata:
            one["description"] = field.metadata["about"]
        if field.default is not dataclasses.MISSING:
            one["default"] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            one["default"] = _plain(field.default_factory())
        else:
            required.append(field.name)
        properties[field.name] = one
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) else value  # type: ignore


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, getattr(types, "UnionType", Union))


def _hint_schema(hint: Any) -> Dict[str, Any]:
    if hint is Any:
        return {}
    if dataclasses.is_dataclass(hint):
        return _dataclass_schema(hint)
    if hint in _NAMES:
        return {"type": _NAMES[hint]}
    arguments = get_args(hint)
    if get_origin(hint) is list:
        return {"type": "array", "items": _hint_schema(arguments[0])}
    if get_origin(hint) is dict and arguments[0] is str:
        return {"type": "object", "additionalProperties": _hint_schema(arguments[1])}
    if get_origin(hint) is Literal:
        return {"enum": list(arguments)}
    if _is_union(hint):
        parts: List[Dict[str, Any]] = [{"type": "null"} if one is type(None) else _hint_schema(one) for one in arguments]
        return {"anyOf": parts}
    raise TypeError(f"an option cannot have the type {hint}")


def _make(hint: Any, value: Any) -> Any:
    """A value of JSON as the type of an option: objects become dataclasses where the type says so."""
    if hint is float:
        return float(value)
    arguments = get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, dict):
        hints = typing.get_type_hints(hint)
        return hint(**{name: _make(hints[name], one) for name, one in value.items()})  # type: ignore
    if get_origin(hint) is list:
        return [_make(arguments[0], one) for one in value]
    if get_origin(hint) is dict:
        return {name: _make(arguments[1], one) for name, one in value.items()}
    if _is_union(hint) and value is not None:
        return _make(next(one for one in arguments if one is not type(None)), value)
    return value
