"""Documents, which are tables, lists, texts and numbers in one another, changed at random."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from campaign import odd

Document = dict[str, Any]
Spot = tuple[Any, Any]  # a container, and the key or index of what is changed in it
LONGEST = 20_000  # values, in lists of the same value many times
DEEPEST = 20
"""Levels down to which documents are changed: deep values within deep ones could not be copied or
written, as that recurses."""


def changed(
    document: Document, rng: random.Random, donors: list[Document], keys: list[str]
) -> Document:
    """Return a copy of a document with some changes; ``donors`` lend parts, ``keys`` names."""
    result = copy.deepcopy(document)
    mild = rng.random() < 0.35
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        spots = _spots(result)
        if not spots:
            break
        container, key = rng.choice(spots)
        if mild:
            _mildly(container, key, rng)
        else:
            rng.choice(CHANGES)(container, key, rng, donors, keys)
    return result


def _spots(document: Any) -> list[Spot]:
    """Return the places of a document's upper levels; of long lists, the first few and the last."""
    found: list[Spot] = []
    level = [document]
    for _ in range(DEEPEST):
        below = []
        for container in level:
            keys = list(container) if isinstance(container, dict) else range(len(container))
            if len(keys) > 12 and isinstance(container, list):
                keys = [*range(10), len(container) - 1]
            for key in keys:
                found.append((container, key))
                if isinstance(container[key], (dict, list)):
                    below.append(container[key])
        level = below
    return found


def _mildly(container: Any, key: Any, rng: random.Random) -> None:
    """Change a number to another, or an entry of a list for a copy; mostly still a problem."""
    value = container[key]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        container[key] = odd.gentle(rng, value)
    elif isinstance(value, bool):
        container[key] = not value
    elif isinstance(value, list) and value:
        if rng.random() < 0.5:
            value.append(copy.deepcopy(rng.choice(value)))
        else:
            value.pop(rng.randrange(len(value)))


Change = Callable[[Any, Any, random.Random, list[Document], list[str]], None]


def _replace(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    container[key] = odd.value(rng)


def _renumber(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    value = container[key]
    if isinstance(value, str):
        container[key] = odd.name(rng)
    elif isinstance(value, list) and value:
        value[rng.randrange(len(value))] = odd.number(rng)
    else:
        container[key] = odd.number(rng)


def _remove(container: Any, key: Any, *_: Any) -> None:
    del container[key]


def _add(
    container: Any, key: Any, rng: random.Random, donors: list[Document], keys: list[str]
) -> None:
    value = odd.value(rng) if rng.random() < 0.6 else _lent(rng, donors)
    if isinstance(container, dict):
        container[rng.choice(keys) if rng.random() < 0.8 else odd.name(rng)] = value
    else:
        container.insert(key, value)


def _graft(container: Any, key: Any, rng: random.Random, donors: list[Document], *_: Any) -> None:
    container[key] = _lent(rng, donors)


def _swap(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    other = rng.choice(list(container) if isinstance(container, dict) else range(len(container)))
    container[key], container[other] = container[other], container[key]


def _wrap(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    value = container[key]
    container[key] = rng.choice(([value], [value, value], {"x": value}, {str(key): value}))


def _rag(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    """Make the rows of a table differ in length."""
    value = container[key]
    rows = value if isinstance(value, list) else container if isinstance(container, list) else []
    row = rng.choice(rows) if rows else None
    if isinstance(row, list):
        if row and rng.random() < 0.6:
            row.pop()
        else:
            row.append(1.0)
    elif isinstance(value, list):
        value.append(value[-1] if value else 0)


def _long(container: Any, key: Any, rng: random.Random, *_: Any) -> None:
    times = min(rng.choice((3, 40, 200)), LONGEST // _size(container[key]))
    container[key] = [copy.deepcopy(container[key])] * max(1, times)


def _size(value: Any) -> int:
    """Return of how many values a value is made, itself included."""
    size, left = 0, [value]
    while left:
        each = left.pop()
        size += 1
        if isinstance(each, (dict, list)):
            left.extend(each.values() if isinstance(each, dict) else each)
    return size


CHANGES: tuple[Change, ...] = (
    *(_replace, _replace, _renumber, _renumber, _renumber, _remove, _remove, _add, _add),
    *(_graft, _swap, _wrap, _rag, _rag, _long),
)


def _lent(rng: random.Random, donors: list[Document]) -> Any:
    spots = _spots(rng.choice(donors))
    container, key = rng.choice(spots)
    return copy.deepcopy(container[key])


def keys_of(documents: list[Document]) -> list[str]:
    """Return the keys that tables have anywhere in the documents."""
    return sorted({str(key) for each in documents for _, key in _spots(each) if key != ""})
