"""Collecting what is wrong with a reduction, and bringing what is right into its final form.

A plan that is given says destinations, or sequences of sends.
"""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, quoted, ragged, whole
from makespan.core.names import Numbered
from makespan.core.network.interconnect import Interconnect
from makespan.core.numeric.arrays import Floats, frozen
from makespan.reduction.model import Collective, links_of, statement_of, unreachable


def _destinations(
    given: Any, machines: int, segments: int, mistakes: Mistakes
) -> tuple[tuple[int, ...], ...]:
    """Return whom each machine sends each segment to, counted from 1."""
    try:
        table = np.array(given)
    except ValueError:
        table = np.empty(0)
    if table.shape != (machines, segments) or table.dtype.kind not in "iu":
        mistakes.add(
            "destinations", f"is not {machines} rows of {segments} machines, counted from 1"
        )
        return ()
    _check_range("destinations", table, machines, mistakes)
    for segment in np.flatnonzero(table[0] != 1)[:20].tolist():
        mistakes.add(
            f"destinations[0][{segment}]", f"{table[0, segment]} is not 1; the root keeps all"
        )
    if not mistakes:
        _check_trees("destinations", table - 1, mistakes)
    return tuple(map(tuple, table.tolist()))


def _sequences(
    given: Any, machines: int, segments: int, mistakes: Mistakes
) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return the segments that each machine sends, and whom to, in their order."""
    expected = f"{machines} lists of (segment, destination), counted from 1"
    try:
        rows = tuple(tuple((operator.index(a), operator.index(b)) for a, b in row) for row in given)
    except (TypeError, ValueError):
        mistakes.add("sequences", f"is not {expected}")
        return ()
    if len(rows) != machines:
        mistakes.add("sequences", f"has {len(rows)} rows; {expected} are needed")
        return rows
    if rows[0]:
        mistakes.add("sequences[0]", "is not empty; the root sends nothing")
    table = np.ones((machines, segments), dtype=np.int64)
    for machine, row in enumerate(rows[1:], start=1):
        if sorted(segment for segment, _ in row) != list(range(1, segments + 1)):
            mistakes.add(
                f"sequences[{machine}]", f"does not send each segment 1 to {segments} once"
            )
            continue
        for segment, destination in row:
            table[machine, segment - 1] = min(max(destination, 0), machines + 1)
    if not mistakes:
        _check_range("sequences", table, machines, mistakes)
    if not mistakes:
        _check_trees("sequences", table - 1, mistakes)
    return rows


def _check_range(place: str, table: Any, machines: int, mistakes: Mistakes) -> None:
    wrong = (table < 1) | (table > machines)
    for row, column in np.argwhere(wrong)[:20].tolist():
        mistakes.add(
            f"{place}[{row}][{column}]",
            f"{table[row, column]} is not a machine; they are counted from 1 to {machines}",
        )


def _check_trees(place: str, parents: Any, mistakes: Mistakes) -> None:
    """Every machine must reach the root: no self-sends, no cycles."""
    machines, _segments = parents.shape
    own = parents[1:] == np.arange(1, machines)[:, None]
    for row, column in np.argwhere(own)[:20].tolist():
        mistakes.add(f"{place}[{row + 1}][{column}]", f"machine {row + 2} sends to itself")
    if own.any():
        return
    reached = parents
    for _ in range(machines.bit_length()):
        reached = np.take_along_axis(reached, reached, axis=0)
    for segment in np.flatnonzero(reached.any(axis=0))[:20].tolist():
        cycle = _cycle_of(parents[:, segment].tolist())
        path = " → ".join(str(machine + 1) for machine in (*cycle, cycle[0]))
        mistakes.add(
            f"{place}[{cycle[0]}][{segment}]",
            f"machines {path} send segment {segment + 1} in a cycle",
        )


def _cycle_of(parents: Sequence[int]) -> tuple[int, ...]:
    """Return a cycle of a map from machines to machines in which the root maps to itself.

    >>> _cycle_of([0, 2, 1])
    (1, 2)
    """
    seen = {0}
    for start in range(1, len(parents)):
        path: list[int] = []
        machine = start
        while machine not in seen:
            seen.add(machine)
            path.append(machine)
            machine = parents[machine]
        if machine in path:
            return tuple(path[path.index(machine) :])
    return ()


MAX_MACHINES = 100_000
MAX_SEGMENTS = 10_000_000
MAX_SENDS = 50_000_000
MAX_PAIRS = 200_000_000  # of a machine and a segment, each of which takes a few bytes
ORDERS = ("free", "greedy", "backfilling")
COLLECTIVES = get_args(Collective)
COUNTED = ("reduce", "broadcast", "all-reduce")
"""Collectives of which the number of segments may be left open."""
PER_BYTE = ("bytes", "message_overhead", "transfer_per_byte", "reduce_per_byte", "reduce_overhead")
OVER_LINKS = ("latency", "transfer", "transfer_per_byte")
"""Costs between machines, infinite where there is no link."""
PER_MESSAGE = ("message_overhead", "reduce_overhead")
TIME = Rule("a time is 0 or more seconds")
TIME_OR_NONE = replace(TIME, allowed=f"{TIME.allowed}, inf without a link", infinite=True)
SIZE = Rule("a size is above 0", strictly=True)
BYTES = Rule("bytes are above 0", strictly=True)
MACHINES = whole("machines are", high=MAX_MACHINES)
SEGMENTS = whole("segments are", high=MAX_SEGMENTS, words=("auto",))


class Validation:
    """One pass over the fields of a reduction; ``run`` returns them in their final form."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.fields = dict(given)
        self.mistakes = Mistakes()

    def run(self) -> dict[str, Any]:
        fields, mistakes = self.fields, self.mistakes
        self._network(fields["network"])
        fields["machines"] = self._machines(fields["machines"])
        fields["segments"] = self._segments(fields["segments"])
        for name, allowed in (("order", ORDERS), ("collective", COLLECTIVES)):
            mistakes.choice(name, fields[name], allowed)
        self._ends()
        if fields["segments"] == "auto":
            self._costs_per_byte()
        else:
            self._costs_per_segment()
        self._costs("latency", 2)
        self._order_of_other_collectives()
        mistakes.raise_if_any()
        shape = len(fields["machines"]), fields["segments"]
        if fields["destinations"] is not None:
            fields["destinations"] = _destinations(fields["destinations"], *shape, mistakes)
        if fields["sequences"] is not None:
            fields["sequences"] = _sequences(fields["sequences"], *shape, mistakes)
        if fields["destinations"] is not None and fields["sequences"] is not None:
            mistakes.add("sequences", "is given beside destinations; a plan is given once")
        mistakes.raise_if_any()
        self._missing_links()
        mistakes.raise_if_any()
        return fields

    def _network(self, network: Any) -> None:
        """Put what follows from a network in place of latencies and transfers."""
        fields, mistakes = self.fields, self.mistakes
        if network is None:
            if fields["machines"] is None:
                mistakes.add("machines", "is missing; their number, or their names")
                mistakes.raise_if_any()
            return
        if not isinstance(network, Interconnect):
            mistakes.add("network", f"{quoted(network)} is not a makespan.Interconnect")
            mistakes.raise_if_any()
        names = self._machines(network.names if fields["machines"] is None else fields["machines"])
        mistakes.raise_if_any()
        if tuple(names) != tuple(network.names):
            mistakes.add("network", f"connects other machines: {quoted(tuple(network.names))}")
        network.collect_mistakes(mistakes)
        of_data = "transfer_per_byte" if fields["segments"] == "auto" else "transfer"
        overhead = fields["message_overhead"]
        table = isinstance(overhead, list | tuple) or np.ndim(overhead)
        if of_data == "transfer_per_byte" and table:
            mistakes.add("message_overhead", "is one number beside a network, for all its links")
        mistakes.raise_if_any()
        fields["machines"], ways = names, network.ways
        if ways.names and fields["order"] != "free":
            what = f"{fields['order']!r} is a rule for links that are not shared"
            mistakes.add("order", f"{what}, and the network has {ways.names[0]}")
        for name, allowed in (("order", "free"), ("sequences", None)):
            if ways.ports is not None and fields[name] != allowed:
                mistakes.add(name, "is for one port a machine, and the network has ports = 'links'")
        apart = ~np.eye(len(names), dtype=bool)
        for name, table in (("latency", ways.latency), (of_data, ways.seconds)):
            given = fields[name]
            values = np.unique(table[apart])
            alike = len(values) < 2 and bool(np.isfinite(values).all())
            alike &= not ways.names and ways.ports is None
            found = float(values.max(initial=0.0)) if alike else table
            usual = given is None or (name == "latency" and np.isscalar(given) and not given)
            if not usual and not _same(given, found):
                mistakes.add(name, "can't be given beside a network")
            fields[name] = found

    def _machines(self, machines: Any) -> Sequence[str]:
        if isinstance(machines, Sequence) and not isinstance(machines, str):
            if isinstance(machines, Numbered):
                return machines
            names = tuple(machines)
            if not names:
                self.mistakes.add("machines", f"are empty; {MACHINES.allowed}, or distinct names")
            self.mistakes.names(lambda index: f"machines[{index}]", names)
            return names
        return Numbered("M", self._count("machines", machines, MACHINES), first=1)

    def _segments(self, segments: Any) -> int | str:
        if isinstance(segments, str) and segments == "auto":
            return "auto"
        count = self._count("segments", segments, SEGMENTS)
        machines = len(self.fields["machines"])
        if self.mistakes:
            return count
        if count * machines > MAX_SENDS:
            self.mistakes.add("segments", f"{count} are too many; {MAX_SENDS} sends at most")
        elif self.fields["collective"] == "all-to-all" and count * machines**2 > MAX_PAIRS:
            text = f"{count} of each machine are too many; {MAX_PAIRS // machines**2} at most"
            self.mistakes.add("segments", f"{text} of {machines} machines")
        return count

    def _ends(self) -> None:
        """Who holds what before and after, of a custom collective; for others nothing is given."""
        fields, mistakes = self.fields, self.mistakes
        custom = fields["collective"] == "custom"
        if fields["segments"] == "auto" and fields["collective"] not in COUNTED:
            known = ", ".join(map(repr, COUNTED))
            mistakes.add("segments", f"'auto' is for collective = {known} only")
        if not isinstance(fields["combine"], bool):
            mistakes.add("combine", f"{quoted(fields['combine'])} is not true or false")
        elif fields["combine"] and not custom:
            mistakes.add("combine", "is for collective = 'custom' only")
        for name in ("before", "after"):
            if custom and fields[name] is None:
                mistakes.add(name, "is missing; the machines of every segment, counted from 1")
            elif custom:
                fields[name] = self._holders(name, fields[name])
            elif fields[name] is not None:
                mistakes.add(name, "is for collective = 'custom' only")
        if not custom or mistakes:
            return
        for segment, (have, want) in enumerate(zip(fields["before"], fields["after"], strict=True)):
            stray = sorted({*want} - {*have})
            if not have:
                mistakes.add(f"before[{segment}]", "is empty; somebody must hold every segment")
            elif fields["combine"] and (stray or not want):
                what = f"machine {stray[0]} holds no part of it" if stray else "is empty"
                mistakes.add(f"after[{segment}]", f"{what}; parts end on machines that hold one")

    def _holders(self, name: str, given: Any) -> tuple[tuple[int, ...], ...]:
        machines, segments = len(self.fields["machines"]), self.fields["segments"]
        try:
            rows = tuple(tuple(sorted({operator.index(each) for each in row})) for row in given)
        except TypeError:
            rows = ()
        if len(rows) != segments:
            self.mistakes.add(name, f"is not {segments} lists of machines, counted from 1")
            return ()
        for segment, row in enumerate(rows):
            for machine in row:
                if not 1 <= machine <= machines:
                    allowed = f"they are counted from 1 to {machines}"
                    place = f"{name}[{segment}]"
                    self.mistakes.add(place, f"{machine} is not a machine; {allowed}")
        return rows

    def _count(self, place: str, value: Any, rule: Rule) -> int:
        return 1 if math.isnan(self.mistakes.number(place, value, rule)) else operator.index(value)

    def _costs_per_segment(self) -> None:
        fields = self.fields
        for name in PER_BYTE:
            if fields[name] is not None:
                self.mistakes.add(name, "is for segments = 'auto' only")
        if fields["transfer"] is None:
            self.mistakes.add("transfer", f"is missing; {TIME.allowed} per segment")
        else:
            self._costs("transfer", 2)
        if fields["reduce"] is None:
            fields["reduce"] = 0.0
        self._costs("reduce", 1)
        if fields["segment_sizes"] is not None:
            fields["segment_sizes"] = self._array(
                "segment_sizes", fields["segment_sizes"], (fields["segments"],), SIZE
            )

    def _check_product(self, name: str) -> None:
        """Refuse what all the bytes would cost, where that is of a magnitude not allowed."""
        size, costs = self.fields["bytes"], np.asarray(self.fields[name], dtype=float)
        if not name.endswith("_per_byte") or size is None:
            return
        each = float(np.max(costs, where=np.isfinite(costs), initial=0.0))
        fault = None if math.isnan(each * size) else TIME.fault(each * size)
        if fault is not None:
            text = f"{each:g} for each of {size:g} bytes {fault}; {TIME.allowed}"
            self.mistakes.add(name, text)

    def _costs_per_byte(self) -> None:
        fields, mistakes = self.fields, self.mistakes
        for name in ("transfer", "reduce", "segment_sizes", "destinations", "sequences"):
            if fields[name] is not None:
                mistakes.add(name, "can't be given with segments = 'auto'")
        if fields["bytes"] is None:
            mistakes.add("bytes", "is missing; segments = 'auto' needs the bytes to reduce")
        else:
            fields["bytes"] = mistakes.number("bytes", fields["bytes"], BYTES)
        for name in PER_BYTE[1:]:
            if fields[name] is not None:
                self._costs(name, 1 if name.startswith("reduce") else 2)
                self._check_product(name)
        overheads = PER_MESSAGE[:1] if fields["collective"] == "broadcast" else PER_MESSAGE
        if not any(np.any(fields[name]) for name in overheads if fields[name] is not None):
            mistakes.add(
                "message_overhead",
                "is missing or zero; without an overhead per message more segments always help",
            )

    def _costs(self, name: str, dimensions: int) -> None:
        """Bring a number, or a table over the machines, into its final form."""
        value = self.fields[name]
        if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, (str, bytes)):
            self.fields[name] = self.mistakes.number(name, value, TIME)
            return
        shape: tuple[int, ...] = (len(self.fields["machines"]),) * dimensions
        rule = TIME_OR_NONE if name in OVER_LINKS else TIME
        self.fields[name] = self._array(name, value, shape, rule)

    def _missing_links(self) -> None:
        """Refuse what has no way to where it belongs, and given plans over missing links.

        A link that is missing from one table is missing from both. Nobody sends to itself: what a
        table says of that is 0 where it would be no link.
        """
        fields, names = self.fields, self.fields["machines"]
        tables = [name for name in OVER_LINKS if np.ndim(fields[name])]
        if not tables:
            return
        own = np.eye(len(names), dtype=bool)
        for name in tables:
            if np.isinf(fields[name][own]).any():
                fields[name] = frozen(np.where(own & np.isinf(fields[name]), 0.0, fields[name]))
        links = links_of(len(names), *(fields[name] for name in OVER_LINKS))
        if links is None:
            return
        for name in tables:
            fields[name] = frozen(np.where(~links & ~own, np.inf, fields[name]))
        segments = 1 if fields["segments"] == "auto" else fields["segments"]
        ends = (fields[name] for name in ("before", "after", "combine"))
        statement = statement_of(fields["collective"], len(names), segments, *ends)
        place = next((name for name in OVER_LINKS[:0:-1] if np.ndim(fields[name])), "latency")
        place = place if fields["network"] is None else "network.links"
        for segment, what in unreachable(statement, links, names):
            self.mistakes.add(place, f"over the links that there are, S{segment + 1} has {what}")
        given: list[tuple[str, int, int]] = []
        for machine, row in enumerate(fields["destinations"] or ()):
            given += [(f"destinations[{machine}][{k}]", machine, to) for k, to in enumerate(row)]
        for machine, row in enumerate(fields["sequences"] or ()):
            given += [(f"sequences[{machine}][{k}]", machine, to) for k, (_, to) in enumerate(row)]
        for where, machine, to in given:
            if machine and not links[machine, to - 1]:
                what = f"no link leads from {names[machine]} to {names[to - 1]}"
                self.mistakes.add(where, what)

    def _array(self, name: str, value: Any, shape: tuple[int, ...], rule: Rule) -> Floats:
        expected = " × ".join(map(str, shape))
        differ = ragged(value)
        if differ is not None:
            self.mistakes.add(name, f"{differ}; {expected} are needed")
            return np.ones(shape)
        try:
            entries = np.array(value)
            array = entries.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            entries = array = np.empty(0, dtype=bool)
        if entries.dtype.kind not in "iufO":
            self.mistakes.add(name, f"{quoted(value)} is not a table of {expected} numbers")
            return np.ones(shape)
        if array.shape != shape:
            found = " × ".join(map(str, array.shape)) or "no"
            self.mistakes.add(name, f"has {found} entries; {expected} are needed")
            return np.ones(shape)

        def place(index: int) -> str:
            return name + "".join(f"[{part}]" for part in np.unravel_index(index, shape))

        self.mistakes.column(place, array.ravel(), rule)
        array.flags.writeable = False
        return array

    def _order_of_other_collectives(self) -> None:
        fields = self.fields
        if fields["collective"] == "reduce":
            return
        if fields["order"] != "free":
            self.mistakes.add("order", f"{fields['order']!r} is a rule for collective = 'reduce'")
        for name in ("destinations", "sequences"):
            if fields[name] is not None:
                self.mistakes.add(name, "can be given for collective = 'reduce' only")


def most_segments(machines: int) -> int:
    """Return the most segments that are planned for so many machines."""
    return max(1, min(MAX_SEGMENTS, MAX_SENDS // machines))


def _same(given: Any, table: Any) -> bool:
    """Whether what is given, which may be anything, is the table."""
    try:
        return bool(np.array_equal(given, table))
    except ValueError:  # rows of different lengths
        return False
