"""The statement of a reduction, or of another collective operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from makespan.core.cached import cached_property
from makespan.core.network.interconnect import Interconnect, Ports, Ways
from makespan.core.numeric.arrays import Floats, Integers, equal_in
from makespan.core.problem import Pictured
from makespan.reduction.model import (
    ROOT,
    Bools,
    Collective,
    Statement,
    common_unit_of,
    links_of,
    statement_of,
)
from makespan.reduction.model.validation import PER_BYTE, Validation

__all__ = ["FIELDS", "ROOT", "Collective", "Order", "Reduction", "Times", "segment_name"]
LARGEST_PARTS = 10**6
LARGEST_COUNT = 2**52

Order = Literal["free", "greedy", "backfilling"]


class Times(NamedTuple):
    """Latency, transfer and reduce time where they are the same everywhere."""

    latency: float
    transfer: float
    reduce: float


@dataclass(frozen=True, kw_only=True, eq=False, init=False, repr=False)
class Reduction(Pictured):
    """Segments held by all machines, to be combined on machine 1, the root.

    Every other machine sends each segment exactly once, after combining what it received for it.
    The transfer of a segment from i to j that starts at s holds the sending port of i in
    [s, s + transfer] and the receiving port of j in [s + latency, s + latency + transfer]; the
    reduction unit of j combines arrivals one at a time, in order of arrival.

    Parameters
    ----------
    machines
        Their number, or their names; the first is the root. Those of the ``network`` if omitted.
    segments
        The number of segments of every machine; ``"auto"`` leaves it open, with ``bytes``,
        ``message_overhead`` and the costs per byte in place of ``transfer`` and ``reduce``.
    latency, transfer
        Seconds per message and per segment: a number, or an n × n table (sender, receiver), in
        which infinity is a missing link. Machines on the way forward what they don't need.
    network
        In place of ``latency`` and ``transfer``: the links between the machines, for which a
        segment of size 1 is a unit of data, or a byte with ``segments="auto"``. Machines without a
        link, or a way over routers alone, have none. A transfer holds every link on its way for as
        long as it holds the ports, from when it gets there; a card or a wire that several share
        carries one transfer at a time. With ``ports="links"`` a machine has both ports and a
        reduction unit for each of its links.
    reduce
        Seconds per combination: a number, or one per machine.
    segment_sizes
        Factors of the transfer and reduce times, one per segment.
    order
        ``"free"``: the order of sends is part of the answer. ``"greedy"``: segments in order,
        and of all ready leaves the one that can start first, lowest machine first (the rule of
        the array reduction notebook). ``"backfilling"``: the same over the leaves of all segments,
        lowest segment first.
    destinations
        n rows, m columns, machines counted from 1: where each machine sends each segment. The
        row of the root is all 1.
    sequences
        Per machine, the succession of its sends as (segment, destination), counted from 1.
    collective
        ``"reduce"``, ``"broadcast"`` (from the root; ``reduce`` does not count), ``"all-reduce"``
        (each segment is combined on some machine, and copied to all when it is complete). Segment
        k, from 0, is dealt to machine k mod n: ``"all-gather"`` and ``"gather"`` start from there,
        ``"reduce-scatter"`` and ``"scatter"`` end there. In an ``"all-to-all"`` every machine has
        ``segments`` of its own, numbered one machine after another, and deals its k-th.
        ``"custom"``: as ``before``, ``after`` and ``combine`` say.
    before, after
        For ``"custom"``: a list per segment of the machines, counted from 1, that hold it before
        and must hold it after.
    combine
        For ``"custom"``: whether what machines hold before are parts that have to be combined.
    bytes, message_overhead, transfer_per_byte, reduce_per_byte, reduce_overhead
        For ``segments="auto"``: m segments cost ``message_overhead + transfer_per_byte * bytes/m``
        a transfer and ``reduce_overhead + reduce_per_byte * bytes/m`` a combination. Numbers, or
        tables as of ``transfer`` and ``reduce``.
    options
        ``method`` and its options, as in the table ``[options]`` of a file.

    Raises
    ------
    ProblemError
        With every mistake found, each with its place.

    Source: array reduction notebook, corrected.

    >>> list(Reduction(machines=4, segments=3, latency=1, transfer=1, reduce=1).machines)
    ['M1', 'M2', 'M3', 'M4']
    """

    kind: ClassVar[str] = "reduction"

    machines: Sequence[str]
    segments: int | Literal["auto"]
    network: Interconnect | None
    latency: float | Floats
    transfer: float | Floats | None
    reduce: float | Floats | None
    segment_sizes: Floats | None
    order: Order
    destinations: tuple[tuple[int, ...], ...] | None
    sequences: tuple[tuple[tuple[int, int], ...], ...] | None
    collective: Collective
    before: tuple[tuple[int, ...], ...] | None
    after: tuple[tuple[int, ...], ...] | None
    combine: bool
    bytes: float | None
    message_overhead: float | Floats | None
    transfer_per_byte: float | Floats | None
    reduce_per_byte: float | Floats | None
    reduce_overhead: float | Floats | None
    options: Mapping[str, Any]

    def __init__(
        self,
        *,
        machines: int | Sequence[str] | None = None,
        segments: int | Literal["auto"],
        network: Interconnect | None = None,
        latency: ArrayLike = 0.0,
        transfer: ArrayLike | None = None,
        reduce: ArrayLike | None = None,
        segment_sizes: ArrayLike | None = None,
        order: Order = "free",
        destinations: Sequence[Sequence[int]] | Integers | None = None,
        sequences: Sequence[Sequence[Sequence[int]]] | None = None,
        collective: Collective = "reduce",
        before: Sequence[Sequence[int]] | None = None,
        after: Sequence[Sequence[int]] | None = None,
        combine: bool = False,
        bytes: float | None = None,  # noqa: A002 - the word of the file format
        message_overhead: ArrayLike | None = None,
        transfer_per_byte: ArrayLike | None = None,
        reduce_per_byte: ArrayLike | None = None,
        reduce_overhead: ArrayLike | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        given = dict(locals())
        given.pop("self")
        given["options"] = dict(options or {})
        for name, value in Validation(given).run().items():
            object.__setattr__(self, name, value)

    def _counts(self) -> Mapping[str, int]:
        return {"machine": len(self.machines)}

    def _facts(self) -> Sequence[str]:
        several = self.segments == "auto" or self.segments > 1
        return [self.collective, *super()._facts(), f"{self.segments} segment{'s' * several}"]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reduction):
            return NotImplemented
        return equal_in(FIELDS, self, other)

    def __hash__(self) -> int:
        return hash((len(self.machines), self.segments, self.order, self.collective))

    @property
    def times(self) -> Times | None:
        """The three times where they are the same for all machines and segments, else None."""
        if self.segments == "auto" or not np.isscalar(self.latency):
            return None  # as where links are shared
        if not np.isscalar(self.transfer) or not np.isscalar(self.reduce):
            return None
        if self.segment_sizes is not None:
            return None
        reduce = self.reduce if self.statement.combining else 0.0
        return Times(float(self.latency), float(self.transfer), float(reduce))  # type: ignore[arg-type]

    @cached_property
    def statement(self) -> Statement:
        """Who holds what before, and must hold what after."""
        assert self.segments != "auto"
        given = self.before, self.after, self.combine
        return statement_of(self.collective, len(self.machines), self.segments, *given)

    @property
    def items(self) -> int:
        """The number of segments, of an all-to-all those of all machines."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> Floats:
        """The factor of every segment."""
        assert self.segments != "auto"
        own = len(self.machines) if self.collective == "all-to-all" else 1
        if self.segment_sizes is None:
            return np.ones(self.segments * own)
        return np.tile(self.segment_sizes, own) if own > 1 else self.segment_sizes

    @cached_property
    def latencies(self) -> Floats:
        """The latency from every machine to every machine, seconds."""
        return self._over_machines(self.latency, 2)

    @cached_property
    def transfers(self) -> Floats:
        """The transfer time of a segment of size 1 from every machine to every machine."""
        return self._over_machines(self.transfer, 2)

    @cached_property
    def links(self) -> Bools | None:
        """Which machine (row) can send to which; None where every one can to every other."""
        tables = self.latency, self.transfer, self.transfer_per_byte
        return links_of(len(self.machines), *tables)

    @property
    def shared(self) -> Ways | None:
        """The ways of a network in which links are shared, else None."""
        ways = None if self.network is None else self.network.ways
        return ways if ways is not None and ways.names else None

    @property
    def ports(self) -> Ports | None:
        """The ports of a network in which machines have them for each link, else None."""
        return None if self.network is None else self.network.ways.ports

    def ports_of(self, sender: Integers, receiver: Integers) -> tuple[Integers, Integers]:
        """Return by which port each transfer leaves, and by which it arrives.

        A reduction unit has the number of its receiving port.
        """
        if self.ports is None:
            return sender, receiver
        return self.ports.sending[sender, receiver], self.ports.receiving[sender, receiver]

    @cached_property
    def reduces(self) -> Floats:
        """The time that every machine takes to combine a segment of size 1."""
        return self._over_machines(self.reduce, 1)

    def _over_machines(self, value: Any, dimensions: int) -> Floats:
        shape = (len(self.machines),) * dimensions
        return np.broadcast_to(np.asarray(value, dtype=float), shape)

    @cached_property
    def unit(self) -> Fraction | None:
        """A unit of which all times are whole multiples; None where there is none."""
        grid = self.grid
        return None if grid is None else grid[0] / grid[1]

    @cached_property
    def grid(self) -> tuple[Fraction, int] | None:
        """The unit of the times and the least common denominator of the sizes, or None.

        None also where all sends one after another would take more units than floats can count.
        """
        unit = common_unit_of(
            np.concatenate([self._between(), np.ravel(np.asarray(self.reduce, dtype=float))])
        )
        part = Fraction(1)
        if self.segment_sizes is not None:
            of_sizes = common_unit_of(self.segment_sizes)
            if of_sizes is None or of_sizes.denominator > LARGEST_PARTS:
                return None
            if self.segment_sizes.max() * of_sizes.denominator > LARGEST_COUNT:
                return None
            part = Fraction(1, of_sizes.denominator)
        if unit is None or self._longest > LARGEST_COUNT * float(unit * part):
            return None
        return unit, part.denominator

    def _between(self) -> Floats:
        """The latencies and transfer times between different machines."""
        tables = [np.asarray(table, dtype=float) for table in (self.latency, self.transfer)]
        count = max(len(table) if table.ndim else 1 for table in tables)
        apart = ~np.eye(count, dtype=bool) if self.links is None else self.links
        found = [table[apart] if table.ndim else table[None] for table in tables]
        if self.shared is not None:
            found.append(self.shared.ahead.ravel())
        return np.concatenate(found)

    @property
    def _longest(self) -> float:
        """What all sends and combinations take one after another, twice, seconds."""
        latency, transfer, reduce = (
            float(np.max(table, where=np.isfinite(table), initial=0.0))
            for table in map(np.asarray, (self.latency, self.transfer, self.reduce))
        )
        work = (transfer + reduce) * float(self.sizes.sum())
        return 2.0 * len(self.machines) * (len(self.sizes) * latency + work)

    def with_segments(self, segments: int) -> Reduction:
        """Return the problem for a given number of segments, where it is open.

        >>> open = Reduction(machines=2, segments="auto", latency=1.0, bytes=8.0,
        ...                  message_overhead=0.5, transfer_per_byte=0.25)
        >>> open.with_segments(4).transfer
        1.0
        """
        if self.segments != "auto":
            return self
        return self._divided(segments, self.message_overhead, self.reduce_overhead)

    @property
    def undivided(self) -> Reduction:
        """What is left of an open number of segments without what each of them costs."""
        return self._divided(1, 0.0, 0.0)

    def _divided(self, segments: int, overhead: Any, reduce_overhead: Any) -> Reduction:
        assert self.bytes is not None
        share, network, transfer = self.bytes / segments, self.network, None
        nothing: dict[str, Any] = dict.fromkeys(PER_BYTE)
        if network is None:
            transfer = _cost(overhead, self.transfer_per_byte, share)
        else:
            network = network.in_messages(share, float(overhead or 0.0))
        return replace(
            self,
            segments=segments,
            network=network,
            transfer=transfer,
            reduce=_cost(reduce_overhead, self.reduce_per_byte, share),
            **nothing,
        )


FIELDS = tuple(field.name for field in fields(Reduction))


def segment_name(segment: int) -> str:
    """Return what a segment, counted from 0, is called in all results.

    >>> segment_name(0)
    'S1'
    """
    return f"S{segment + 1}"


def _cost(fixed: Any, per_byte: Any, share: float) -> Any:
    """Return what so many bytes cost: a number, or a table where one of both is."""
    fixed, per_byte = (0.0 if cost is None else cost for cost in (fixed, per_byte))
    return fixed + per_byte * share
