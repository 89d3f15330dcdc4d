"""TOML and JSON → tables of keys and values, with nesting bounded."""

import json
import re
import tomllib
from typing import Any
from xml.etree import ElementTree

from makespan.core.errors import FileError
from makespan.core.inputs.rules import quoted

DEEPEST = 64
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
DOTTED = re.compile(rf"""(?<![\w.'"-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST}}}""")
"""A key of more parts than there may be levels, for which tomllib takes quadratic time."""
LONG = re.compile(r"0[xob][0-9a-fA-F_]{3000}")
MAX_BITS = 10_000  # of a whole number; what has more can't even be printed
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def table_in(text: str, name: str, suffix: str) -> dict[str, Any]:
    """Return a document as dictionaries, lists, texts and numbers.

    ``name``: what messages call the file. ``suffix``: ``".json"`` or ``".toml"``. Raises FileError
    naming the file, what is wrong with it, and the line and column where they are known.
    """
    if not text.strip():
        raise FileError(f"{name}: is empty")
    try:
        data = _from_json(text) if suffix == ".json" else _from_toml(text)
    except RecursionError:
        raise FileError(f"{name}: is nested too deeply; {DEEPEST} levels are allowed") from None
    except _FaultError as fault:
        raise FileError(f"{name}: {fault}") from None
    if not isinstance(data, dict):
        raise FileError(f"{name}: holds a {_word(data)}; it must hold an object, {{...}}")
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, (dict, list))
        ]
    if level:
        raise FileError(f"{name}: is nested too deeply; {DEEPEST} levels are allowed")
    return data


class _FaultError(Exception):
    """What is wrong with the text of a file."""


def _from_json(text: str) -> Any:
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _FaultError(f"{where}: not valid JSON: {error.msg}") from None
    except ValueError as error:
        raise _FaultError(f"a number can't be read: {_short(error)}") from None
    if SURROGATE.search(text):
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            why = "a text holds half of a surrogate pair, which is not a character"
            raise _FaultError(why) from None
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _FaultError(f"the key {quoted(key)} stands twice in one object")
            seen.add(key)
    return table


def _no_constant(constant: str) -> Any:
    raise _FaultError(f"{constant} is not JSON; null stands for an infinite limit")


def _from_toml(text: str) -> Any:
    if DOTTED.search(text):
        raise RecursionError
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).partition(" (at ")
        place = re.fullmatch(r"line (\d+), column (\d+)\)", where)
        start = f"line {place[1]}, column {place[2]}" if place else "at its end"
        raise _FaultError(f"{start}: not valid TOML: {message}") from None
    except ValueError as error:
        raise _FaultError(f"a number can't be read: {_short(error)}") from None
    rest = [data] if LONG.search(text) else []  # a whole number may have thousands of digits
    while rest:
        part = rest.pop()
        if isinstance(part, (dict, list)):
            rest.extend(part.values() if isinstance(part, dict) else part)
        elif isinstance(part, int) and part.bit_length() > MAX_BITS:
            raise _FaultError("a number can't be read: it has thousands of digits")
    return data


def _short(error: Exception) -> str:
    return str(error).partition(";")[0]


def _word(data: Any) -> str:
    words = {list: "list", str: "text", bool: "true or false", type(None): "null"}
    return words.get(type(data), "number")


def root_of(text: str, tag: str, name: str, *, typed: bool = False) -> ElementTree.Element:
    """Return the root of a document of the format called ``name``, whose root is a ``tag``.

    ``typed``: whether it may name a document type, which is not looked up. Raises FileError if it
    is not one, or declares entities or a document type.
    """
    if "<!ENTITY" in text or (not typed and "<!DOCTYPE" in text):
        raise FileError(f"declares entities or a document type, which {name} has no use for")
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:  # an encoding that is not known
        raise FileError(f"is not {name}: {error}") from None
    if local(root) != tag:
        raise FileError(f"is XML ({quoted(local(root))}), but not {name}")
    return root


def local(element: ElementTree.Element) -> str:
    """Return the tag of an element without its namespace."""
    return element.tag.rpartition("}")[2]
