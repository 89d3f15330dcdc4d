"""Document → a document that differs in one thing, and what that is.

What may vary in a problem, and within which ends, is in its ranges.
"""

from __future__ import annotations

import copy
import fnmatch
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from makespan.core.errors import MakespanError
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem
from makespan.flow.files.files import problem_of
from makespan.lab.adversary.document import (
    Document,
    Path,
    at,
    is_symmetric,
    label,
    lists,
    names,
    numbers,
    parts,
    pattern,
    put,
    references,
    resized,
    shown,
    without,
)

DIGITS = 3  # of numbers that are drawn: a problem is to be read, too
FIXED = ("format", "shape")


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where a number may be, or the length of a list."""

    low: float
    high: float
    whole: bool = False

    def drawn(self, rng: np.random.Generator) -> float:
        return self.rounded(rng.uniform(self.low, self.high))

    def rounded(self, value: float) -> float:
        """Return the nearest number that is allowed and short.

        >>> Range(0.0, 1.0).rounded(0.123456), Range(1, 5, whole=True).rounded(7.2)
        (0.123, 5)
        """
        value = min(self.high, max(self.low, value))
        if self.whole:
            return round(value)
        return min(self.high, max(self.low, float(f"{value:.{DIGITS}g}")))


@dataclass(frozen=True, slots=True)
class Ranges:
    """What varies: numbers and lengths of lists by the pattern of their places.

    ``stock`` holds elements of lists, for lists that have become empty; ``least`` the lengths that
    the user asks for, which hold for a smaller problem, too.
    """

    numbers: Mapping[str, Range]
    lengths: Mapping[str, Range]
    stock: Mapping[str, Any]
    least: Mapping[str, float]

    def broken(self, document: Document) -> set[str]:
        """Return the lists that are too long or too short, by the pattern of their places."""
        found = ((pattern(path), len(value)) for path, value in lists(document))
        lengths = ((key, length, self.lengths.get(key)) for key, length in found)
        return {key for key, n, each in lengths if each and not each.low <= n <= each.high}


def ranges_of(samples: Iterable[Document], within: Mapping[str, Any], mistakes: Mistakes) -> Ranges:
    """Return what varies among samples of problems, with the ranges that are given instead.

    Numbers vary between the least and the greatest of the samples; one that is the same in all
    of them stays as it is. Lists may lose elements, and are never longer than in the samples.
    """
    found: dict[str, list[float]] = {}
    lengths: dict[str, list[int]] = {}
    stock: dict[str, Any] = {}
    least: dict[str, float] = {}
    for sample in samples:
        for path, value in numbers(sample):
            found.setdefault(pattern(path), []).append(value)
        for path, each in lists(sample):
            if path[-1] not in FIXED:
                lengths.setdefault(pattern(path), []).append(len(each))
                if each:
                    stock.setdefault(pattern(path), each[-1])
    whole = {key: all(float(v).is_integer() for v in values) for key, values in found.items()}
    vary = {
        key: Range(min(values), max(values), whole[key])
        for key, values in found.items()
        if min(values) < max(values)
    }
    sizes = {
        key: Range((min(values) + 1) // 2, max(values), whole=True)
        for key, values in lengths.items()
    }
    for asked, ends in within.items():
        place = f"within[{quoted(asked)}]"
        known = [key for key in (*found, *lengths) if fnmatch.fnmatchcase(key, asked)]
        if not known:
            hint = did_you_mean(asked, (*found, *lengths))
            mistakes.add(place, f"no number or list of this problem has this place{hint}")
        low, high = _ends(ends, place, mistakes)
        for key in known:
            if key in found:
                integral = whole[key] and float(low).is_integer() and float(high).is_integer()
                vary[key] = Range(low, high, integral)
            else:
                sizes[key] = Range(low, high, whole=True)
                least[key] = low
    vary = {key: each for key, each in vary.items() if each.low < each.high}
    return Ranges(vary, sizes, stock, least)


def _ends(given: Any, place: str, mistakes: Mistakes) -> tuple[float, float]:
    """Return the two ends of a range; on a mistake, note it."""
    try:
        low, high = given
        if not all(isinstance(each, (int, float)) and math.isfinite(each) for each in (low, high)):
            raise TypeError
    except (TypeError, ValueError):
        mistakes.add(place, f"{quoted(given)} is not a pair of numbers, the least and the greatest")
        return 0.0, 0.0
    if low > high:
        mistakes.add(place, f"the least, {low:g}, is above the greatest, {high:g}")
    return low, high


def fitted(document: Document, ranges: Ranges, rng: np.random.Generator) -> Document:
    """Return a start whose numbers lie within the ranges: those outside are drawn anew."""
    for path, value in list(numbers(document)):
        allowed = ranges.numbers.get(pattern(path))
        if allowed is not None and not allowed.low <= value <= allowed.high:
            document = put(document, path, allowed.drawn(rng))
    return document


TRIES = 30  # proposals until a kind has to accept one
STEP = 0.1  # of its range: how far a number moves, as in PISA (Coleman and Krishnamachari 2025)

Proposal = tuple[str, Document]


def changed(
    document: Document, ranges: Ranges, rng: np.random.Generator
) -> tuple[str, Document, Problem | None]:
    """Return what was changed, the document and its problem; no problem where none is allowed.

    What a change may be is not known here: the kind reads the document, and may refuse it.
    """
    moves: list[Callable[..., Iterator[Proposal]]] = [_number, _number, _length, _reference]
    for _ in range(TRIES):
        move = moves[rng.integers(len(moves))]
        for text, proposal in move(document, ranges, rng):
            problem = problem_in(proposal)
            if problem is not None and ranges.broken(proposal) <= ranges.broken(document):
                return text, proposal, problem
    return "", document, None


def problem_in(document: Document) -> Problem | None:
    """Return the problem of a document; None where its kind refuses it."""
    try:
        return problem_of(document)
    except (MakespanError, OverflowError):
        return None


def _number(document: Document, ranges: Ranges, rng: np.random.Generator) -> Iterator[Proposal]:
    """Move a number a little, or to an end of its range, to another one, or anywhere."""
    places: dict[str, list[Path]] = {}
    for path, _ in numbers(document):
        if pattern(path) in ranges.numbers:
            places.setdefault(pattern(path), []).append(path)
    if not places:
        return
    key = list(places)[rng.integers(len(places))]
    path, allowed = _one_of(places[key], rng), ranges.numbers[key]
    old, way = at(document, path), rng.random()
    if way < 0.6:
        step = max(STEP * (allowed.high - allowed.low), float(allowed.whole))
        new = allowed.rounded(old + step * rng.uniform(-1, 1))
    elif way < 0.75:
        new = _one_of([allowed.low, allowed.high], rng)
    elif way < 0.85:
        new = at(document, _one_of(places[key], rng))
    else:
        new = allowed.drawn(rng)
    if new != old:
        yield f"{shown(document, path)}: {old:.6g} → {new:.6g}", with_number(document, path, new)


def with_number(document: Document, path: Path, new: float) -> Document:
    """Return a copy with another number; a table that is the same both ways stays so."""
    proposal = put(document, path, new)
    if len(path) > 2 and isinstance(path[-2], int) and is_symmetric(at(document, path[:-2])):
        at(proposal, path[:-2])[path[-1]][path[-2]] = new
    return proposal


def _length(document: Document, ranges: Ranges, rng: np.random.Generator) -> Iterator[Proposal]:
    """Add an element to a list, or take one away."""
    choices = []
    for path, value in lists(document):
        allowed = ranges.lengths.get(pattern(path))
        if allowed is not None:
            choices += [(path, True)] * (len(value) < allowed.high)
            choices += [(path, False)] * (len(value) > allowed.low)
    if not choices:
        return
    path, more = choices[rng.integers(len(choices))]
    there = at(document, path)
    if more and not there:
        if pattern(path) in ranges.stock:
            proposal = put(document, path, [copy.deepcopy(ranges.stock[pattern(path)])])
            yield f"{shown(document, path)}: one added", _renewed(proposal, path, ranges, rng)
        return
    yield from resizings(document, path, int(rng.integers(len(there))), ranges, rng, more=more)


def resizings(
    document: Document,
    path: Path,
    index: int,
    ranges: Ranges,
    rng: np.random.Generator,
    *,
    more: bool,
) -> Iterator[Proposal]:
    """Yield documents with an element more or less, ever more lists of that length with it.

    Costs, rates and names of the same things stand in lists of the same length, and some counts
    say that length: which belong together, only the kind knows.
    """
    there = at(document, path)
    length, text = len(there), shown(document, path)
    word = label(there[index]) or f"number {index + 1}"
    alone = [*there, copy.deepcopy(there[index])] if more else there[:index] + there[index + 1 :]
    proposals = [put(document, path, alone)]
    if len(path) > 1:
        home = resized(at(document, path[:-1]), length, index, more=more)
        proposals.append(put(document, path[:-1], home))
    everywhere = resized(document, length, index, more=more)
    proposals += [
        everywhere,
        _counted(everywhere, length, more),
        _counted(everywhere, length - 1, more),
    ]
    for proposal in proposals:
        if more:
            renewed = _renewed(proposal, path, ranges, rng)
            yield f"{text}: {label(at(renewed, path)[-1]) or 'one'} added", renewed
        else:
            named = isinstance(there[index], dict) and "name" in there[index]
            yield f"{text}: {word} taken away", without(proposal, word) if named else proposal


def _counted(document: Document, count: int, more: bool) -> Document:
    """Return a document whose whole numbers of a value are one more, or one less."""
    counted = copy.deepcopy(document)
    for key, value in counted.items():
        if value == count and not isinstance(value, (bool, list, dict)):
            counted[key] = value + (1 if more else -1)
    return counted


def _renewed(document: Document, path: Path, ranges: Ranges, rng: np.random.Generator) -> Document:
    """Return a document whose last element of a list has a name and numbers of its own."""
    here = (*path, len(at(document, path)) - 1)
    if isinstance(at(document, here), dict) and "name" in at(document, here):
        taken = {name for each in names(document).values() for name in each}
        stem = re.sub(r"\d+$", "", at(document, here)["name"])
        new = next(f"{stem}{n}" for n in range(1, len(taken) + 2) if f"{stem}{n}" not in taken)
        document = put(document, (*here, "name"), new)
    for place, value in list(parts(at(document, here), here)):
        allowed = ranges.numbers.get(pattern(place))
        if allowed is not None and isinstance(value, (int, float)):
            document = put(document, place, allowed.drawn(rng))
    for place, _, choices in list(references(document)):
        if place[: len(here)] == here:
            document = put(document, place, _one_of(choices, rng))
    return document


def _reference(document: Document, ranges: Ranges, rng: np.random.Generator) -> Iterator[Proposal]:
    """Lead what names an element to another one, in a list that may change."""
    free = [
        (path, old, choices)
        for path, old, choices in references(document)
        if any(pattern(path[:n]) in ranges.lengths for n in range(len(path)))
    ]
    if free:
        path, old, choices = free[rng.integers(len(free))]
        new = _one_of(choices, rng)
        if new != old:
            yield f"{shown(document, path)}: {old} → {new}", put(document, path, new)


def _one_of(choices: Any, rng: np.random.Generator) -> Any:
    return choices[rng.integers(len(choices))]
