"""Which attribute of a node is its work, and which of an edge its size, in graphs of others.

Nothing is assumed in silence: a value that is not a number is a mistake, a graph whose numbers
stand under names that are not known is refused, and what is missing or not read is noted.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from makespan.core.errors import FileError, InputError
from makespan.core.inputs.rules import Mistakes, Rule, quoted
from makespan.taskgraph.model.columns import CORES as HELD

SHOWN = 8
ANY = Rule()
LABEL, CORES = "label", "cores"
NUMBER = re.compile(r"[+-]?+(\d++\.?+\d*+|\.\d++)(e[+-]?+\d++)?", re.ASCII | re.IGNORECASE)

DRAWING = frozenset(
    """
    area arrowhead arrowsize arrowtail class color colorscheme comment constraint decorate dir
    distortion edgehref edgetarget edgetooltip edgeurl fillcolor fixedsize fontcolor fontname
    fontsize gradientangle group head_lp headclip headhref headlabel headport headtarget
    headtooltip headurl height href id image imagepos imagescale key labelangle labeldistance
    labelfloat labelfontcolor labelfontname labelfontsize labelhref labelloc labeltarget
    labeltooltip labelurl layer len lhead lp ltail margin minlen name nojustify ordering
    orientation penwidth peripheries pin pos rects regular root samehead samplepoints sametail
    shape shapefile showboxes sides skew sortv style tail_lp tailclip tailhref taillabel tailport
    tailtarget tailtooltip tailurl target tooltip url vertices width x xlabel xlp y z
    """.split()  # noqa: SIM905 - a table of words
)
"""Attributes that say how a graph looks (those of Graphviz), or what its parts are called."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is looked for: its name, the part of a graph that has it, and under which keys."""

    name: str
    part: str
    keys: tuple[str, ...]
    default: float
    allowed: str


WORK = Quantity(
    "work",
    "node",
    ("work", "weight", "cost", "duration", "time", "size"),
    1.0,
    "work is a number, 0 or more",
)
SIZE = Quantity(
    "size",
    "edge",
    ("size", "data", "weight", "cost", "volume", "work", "duration"),
    0.0,
    "a size is a number, 0 or more",
)


class Found(NamedTuple):
    """A value, and where it stands as the format counts places."""

    value: Any
    where: Any


Entry = Mapping[str, Found]


class Column:
    """Works of nodes, or sizes of edges, the ``place`` of a value, and what was noted of them."""

    def __init__(self, quantity: Quantity, place: Callable[[Any, str], str]) -> None:
        self.quantity = quantity
        self.notes: list[str] = []
        self._place = place
        self._has_cores = quantity.part == "node" and CORES not in quantity.keys
        self._known = frozenset((*quantity.keys, LABEL, *[CORES] * self._has_cores))
        self._others: dict[str, bool] = {}  # not known: whether one of the values is a number

    def entry(self, attributes: Iterable[tuple[Any, Any]], where: Any) -> dict[str, Found]:
        """Return the attributes that matter, by their keys in small letters."""
        entry = {}
        for key, value in attributes:
            word = str(key).lower()
            if word in self._known:
                entry[word] = Found(value, where)
            elif word not in DRAWING and not self._others.get(str(key)):
                self._others[str(key)] = is_number(value)
        return entry

    def numbers(self, entries: Sequence[Entry], mistakes: Mistakes) -> list[float]:
        """Return the number of each entry; note what is assumed, and every mistake."""
        quantity = self.quantity
        keys = [next((key for key in quantity.keys if key in entry), None) for entry in entries]
        if entries and not any(keys):
            keys = [
                LABEL if LABEL in entry and is_number(entry[LABEL].value) else None
                for entry in entries
            ]
            if any(keys):
                self.notes.append(f"the {quantity.name} of {quantity.part}s is read from labels")
            else:
                self._refuse_others(mistakes)
        self._note(entries, keys)
        return [
            quantity.default if key is None else self._number(entry[key], key, mistakes)
            for entry, key in zip(entries, keys, strict=True)
        ]

    def cores(
        self, names: Iterable[str], entries: Iterable[Entry], mistakes: Mistakes
    ) -> dict[str, int]:
        """Return the cores of nodes that state them, by name; note every mistake."""
        found = {}
        for name, entry in zip(names, entries, strict=True):
            if not self._has_cores or CORES not in entry:
                continue
            value, where = entry[CORES]
            number: Any = float(value) if is_number(value) else value
            if isinstance(number, float) and number.is_integer():
                number = int(number)
            fault = HELD.fault(number)
            if fault is None:
                found[name] = number
            else:
                text = f"{CORES} {quoted(value)} {fault}; {HELD.allowed}"
                mistakes.add(self._place(where, CORES), text)
        return found

    def _number(self, found: Found, key: str, mistakes: Mistakes) -> float:
        value = float(found.value) if is_number(found.value) else found.value
        fault = ANY.fault(value)
        if fault is None:
            return float(value)
        place = self._place(found.where, key)
        mistakes.add(place, f"{key} {quoted(found.value)} {fault}; {self.quantity.allowed}")
        return self.quantity.default

    def _refuse_others(self, mistakes: Mistakes) -> None:
        if any(self._others.values()):
            what = self.quantity
            mistakes.add(
                "",
                f"no {what.part} has a known attribute: looked for {', '.join(what.keys)} and "
                f"numbers as {LABEL}; there are {_listed(self._others)}",
            )

    def _note(self, entries: Sequence[Entry], keys: Sequence[str | None]) -> None:
        name, part = self.quantity.name, self.quantity.part
        missing = keys.count(None)
        if missing:
            wanting = f"{missing} of {len(keys)} {part}s have no {name}"
            if missing == len(keys):
                wanting = f"no {part} has a {name}"
            self.notes.append(f"{wanting}: {self.quantity.default:g} is assumed")
        beside = {
            other: None
            for entry, key in zip(entries, keys, strict=True)
            if key is not None and len(entry) > 1
            for other in self.quantity.keys
            if other in entry and entry[other].value != entry[key].value
        }
        unread = [*beside, *self._others]
        if unread:
            self.notes.append(f"attributes of {part}s that are not read: {_listed(unread)}")


class Elements:
    """The columns of nodes and edges that a reader of a graph of others fills."""

    def __init__(
        self, node: Callable[[Any, str], str], edge: Callable[[Any, str], str],
        works: Quantity = WORK, sizes: Quantity = SIZE,
    ) -> None:  # fmt: skip
        self.works, self.sizes = Column(works, node), Column(sizes, edge)

    def arguments(
        self, nodes: Sequence[tuple[str, Entry]], edges: Sequence[tuple[str, str, Entry]],
        mistakes: Mistakes, error: type[InputError] = FileError,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the arguments of a graph of named nodes and of edges, or raise all mistakes."""
        names, entries = [name for name, _ in nodes], [entry for _, entry in nodes]
        work = self.works.numbers(entries, mistakes)
        cores = self.works.cores(names, entries, mistakes)
        size = self.sizes.numbers([entry for _, _, entry in edges], mistakes)
        mistakes.raise_if_any(error)
        return {
            "tasks": list(zip(names, work, strict=True)),
            "edges": [(a, b, each) for (a, b, _), each in zip(edges, size, strict=True)],
            "cores": cores,
            "notes": (*self.works.notes, *self.sizes.notes),
        }


def is_number(value: Any) -> bool:
    r"""Whether ``value`` is a number, or a text that is one.

    >>> is_number(3), is_number(" 2.5e3 "), is_number("3 MB"), is_number("inf"), is_number(True)
    (True, True, False, False, False)
    >>> is_number("1.\x1e")  # a space to Python's texts, but not to its numbers
    False
    """
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip(" \t\r\n\f\v")) is not None
    return ANY.fault(value) is None


def _listed(names: Iterable[str]) -> str:
    words = list(map(quoted, names))
    more = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more
