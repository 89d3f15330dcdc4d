"""Files → tables of keys and values, with sizes and nesting bounded."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from makespan.core.errors import FileError
from makespan.core.files import read_text, shown_path

DEEPEST = 64
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parsed(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the contents of a TOML or JSON file as dictionaries, lists, texts and numbers.

    Parameters
    ----------
    path
        ``"-"`` is the standard input. The suffix ``.toml`` or ``.json`` decides what is read,
        otherwise the first character: JSON starts with a brace.

    Raises
    ------
    FileError
        Naming the file, what is wrong with it, and the line and column where they are known.
    """
    name = shown_path(path)
    text = read_text(path, pipes=True)
    if not text.strip():
        raise FileError(f"{name}: is empty")
    suffix = Path(path).suffix.lower()
    is_json = suffix == ".json" or (suffix != ".toml" and text.lstrip()[0] in "{[")
    try:
        data = _from_json(text) if is_json else _from_toml(text)
    except RecursionError:
        raise FileError(f"{name}: is nested too deeply; {DEEPEST} levels are allowed") from None
    except _FaultError as fault:
        raise FileError(f"{name}: {fault}") from None
    if not isinstance(data, dict):
        raise FileError(f"{name}: holds a {_word(data)}; it must hold an object, {{...}}")
    if _depth_exceeds(data, DEEPEST):
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
        _refuse_half_characters(data)
    return data


def _refuse_half_characters(data: Any) -> None:
    r"""Refuse texts such as ``"\ud800"``, which stand for no character."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _FaultError("a text holds half of a surrogate pair, which is no character") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _FaultError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return table


def _no_constant(constant: str) -> Any:
    raise _FaultError(f"{constant} is not JSON; null stands for an infinite limit")


def _from_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).partition(" (at ")
        place = re.fullmatch(r"line (\d+), column (\d+)\)", where)
        start = f"line {place[1]}, column {place[2]}" if place else "at its end"
        raise _FaultError(f"{start}: not valid TOML: {message}") from None
    except ValueError as error:
        raise _FaultError(f"a number can't be read: {_short(error)}") from None


def _short(error: Exception) -> str:
    return str(error).partition(";")[0]


def _word(data: Any) -> str:
    words = {list: "list", str: "text", bool: "true or false", type(None): "null"}
    return words.get(type(data), "number")


def _depth_exceeds(data: Any, limit: int) -> bool:
    level = [data]
    for _ in range(limit):
        level = [
            part
            for container in level
            for part in (container.values() if isinstance(container, dict) else container)
            if isinstance(part, (dict, list))
        ]
        if not level:
            return False
    return True
