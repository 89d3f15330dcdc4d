"""A problem as its file has it: numbers, lists and names that can be changed one by one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from makespan.core.problem import Problem
from makespan.flow.files.files import as_dict
from makespan.flow.serialize import as_json

Document = dict[str, Any]
Path = tuple[str | int, ...]
ENDS = ("from", "to")
"""The keys of a list's elements that tell them apart where they have no names."""


def document_of(problem: Problem) -> Document:
    """Return a problem as plain numbers, texts, lists and tables."""
    found: Document = json.loads(as_json(as_dict(problem)))
    return found


def pattern(path: Path) -> str:
    """Return what the places of alike values have in common.

    >>> pattern(("tasks", 3, "work"))
    'tasks.*.work'
    """
    return ".".join("*" if isinstance(step, int) else step for step in path)


def parts(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield all that a value consists of, itself included, with its path."""
    yield path, value
    entries = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else entries:
        yield from parts(each, (*path, key))


def numbers(document: Document) -> Iterator[tuple[Path, float]]:
    """Yield the numbers of a document with their paths."""
    for path, value in parts(document):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, value


def lists(document: Document) -> Iterator[tuple[Path, list[Any]]]:
    """Yield the lists of a document with their paths; ends of links are no lists."""
    for path, value in parts(document):
        if isinstance(value, list) and path[-1] != "between":
            yield path, value


def at(document: Any, path: Path) -> Any:
    """Return the value at a path."""
    for step in path:
        document = document[step]
    return document


def put(document: Document, path: Path, value: Any) -> Document:
    """Return a copy with another value at a path."""
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def is_symmetric(table: Any) -> bool:
    """Whether a value is a square table of numbers, the same both ways.

    >>> is_symmetric([[0, 2], [2, 0]]), is_symmetric([[0, 2], [1, 0]]), is_symmetric([1, 2])
    (True, False, False)
    """
    if not isinstance(table, list) or len(table) < 2:
        return False
    square = all(isinstance(row, list) and len(row) == len(table) for row in table)
    return square and [list(column) for column in zip(*table, strict=True)] == table


def resized(value: Any, length: int, index: int, *, more: bool) -> Any:
    """Return a value in which each list of a length has an element more, or one less.

    The one more is a copy of that at ``index``, at the end.

    >>> resized({"speeds": [1, 2], "rates": [[0, 5], [6, 0]]}, 2, 0, more=False)
    {'speeds': [2], 'rates': [[0]]}
    """
    if isinstance(value, dict):
        return {key: resized(each, length, index, more=more) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == length:
        value = (
            [*value, copy.deepcopy(value[index])] if more else value[:index] + value[index + 1 :]
        )
    return [resized(each, length, index, more=more) for each in value]


def without(value: Any, name: str) -> Any:
    """Return a value without the elements of lists that name something."""
    if isinstance(value, list):
        return [without(each, name) for each in value if not _mentions(each, name)]
    if isinstance(value, dict):
        return {key: without(each, name) for key, each in value.items() if key != name}
    return value


def _mentions(value: Any, name: str) -> bool:
    if isinstance(value, dict):
        return any(
            each == name or (isinstance(each, list) and name in each) for each in value.values()
        )
    return bool(value == name)


def names(document: Document) -> dict[str, list[str]]:
    """Return the names of the elements of each list, by its pattern."""
    found: dict[str, list[str]] = {}
    for path, value in lists(document):
        named = [each["name"] for each in value if isinstance(each, dict) and "name" in each]
        if named:
            found.setdefault(pattern(path), []).extend(named)
    return found


def references(document: Document) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield where a name is mentioned, the name, and those that could stand there."""
    known = names(document)
    for path, value in parts(document):
        if isinstance(value, str) and path[-1] != "name":
            for choices in known.values():
                if value in choices and len(choices) > 1:
                    yield path, value, choices


def shown(document: Document, path: Path) -> str:
    """Return a place in words: elements by their names or ends, else by their numbers.

    >>> shown({"tasks": [{"name": "A", "work": 1}]}, ("tasks", 0, "work"))
    'tasks[A].work'
    """
    text, value = "", document
    for step in path:
        value = value[step]  # type: ignore[index]
        if isinstance(step, str):
            text += f".{step}" if text else step
        else:
            text += f"[{label(value) or step}]"
    return text


def label(element: Any) -> str:
    """Return what tells an element of a list from the others; nothing where it has no words."""
    if not isinstance(element, dict):
        return ""
    ends = [str(element[key]) for key in ENDS if key in element] or element.get("between", [])
    return str(element["name"]) if "name" in element else " → ".join(ends)
