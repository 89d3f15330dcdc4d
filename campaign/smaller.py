"""A kept case → the smallest input found that goes wrong in the same way."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

from campaign import cases

SECONDS = 60.0
PLAIN = (0, 1, 2)
"""What numbers become, where they may."""


def smaller(case: str, seconds: float = SECONDS) -> dict[str, Any] | None:
    """Return the smallest document found; None where the case does not go wrong any more.

    Parts and numbers are dropped or made plain one after another, as long as that helps.
    """
    wrong = cases.replay(case)
    if wrong is None or wrong.input is None:
        return None
    document: dict[str, Any] = json.loads(wrong.input[1])
    key, until = cases.key_of(wrong), time.monotonic() + seconds
    again = True
    while again:
        again = False
        for other in simpler(document):
            if time.monotonic() > until:
                return document
            found = cases.replay(case, json.dumps(other).encode())
            if found is not None and cases.key_of(found) == key:
                document, again = other, True
                break
    return document


def simpler(document: Any) -> Iterator[Any]:
    """Yield documents that are a little simpler: the largest steps first."""
    for drops in (True, False):
        for path in sorted(_paths(document), key=len):
            yield from _without(document, path) if drops else _plain(document, path)


def _paths(part: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every part of a document, itself left out."""
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in inner:
        yield (*above, key)
        if isinstance(value, (dict, list)):
            yield from _paths(value, (*above, key))


def _inside(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def _without(document: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    other = copy.deepcopy(document)
    del _inside(other, path[:-1])[path[-1]]
    yield other


def _plain(document: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    value = _inside(document, path)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value in PLAIN:
        return
    for number in PLAIN:
        other = copy.deepcopy(document)
        _inside(other, path[:-1])[path[-1]] = number
        yield other
