"""Several sources: machines that hold load, each with links to all workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from makespan.core.cached import cached_property
from makespan.core.costs import Affine, as_affine, convert
from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, Mistakes, Rule
from makespan.core.numeric.arrays import Floats, equal_in, frozen
from makespan.divisible.model.columns import Columns, listed
from makespan.divisible.model.machines import NO_COST, Worker
from makespan.divisible.model.platform import RULES

HELD = Rule("a source holds 0 or more units")
LIMITS = ("memory", "release", "deadline")
LINK = Rule(f"{UNIT_COST.allowed}, or inf where there is no link", infinite=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A machine that holds load, and sends it to the workers.

    Parameters
    ----------
    name
        Unique; ``S1``, ``S2``, … by position where it is empty.
    load
        Units that lie here and nowhere else. None, at all sources: each holds a copy of the whole
        load, and any of them may send any part of it.
    send
        The costs of sending to each worker, :class:`Affine` or seconds per unit, infinite where
        there is no link; one cost for all workers; None: what ``send`` of each worker says.
    compute
        Its cost of computing (while it sends); None if it does not compute.
    release
        From when on it sends and computes, seconds.

    >>> Source(load=6.0, send=[1.0, Affine(0.5, 2.0)]).send
    (Affine(fixed=0.0, per_unit=1.0), Affine(fixed=0.5, per_unit=2.0))
    """

    name: str = ""
    load: float | None = None
    send: Affine | float | Sequence[Affine | float] | None = None
    compute: Affine | float | None = None
    release: float = 0.0

    def __post_init__(self) -> None:
        def links(send: Any) -> Any:
            send = send.tolist() if isinstance(send, np.ndarray) else send
            return (
                tuple(map(as_affine, send)) if isinstance(send, (list, tuple)) else as_affine(send)
            )

        convert(self, send=links, compute=as_affine)


class Sources(Columns):
    """Sources that hold load, and workers each of whom may receive from every source.

    A source sends to one worker at a time, a worker receives from one source at a time, unless the
    problem's ``ports`` are ``"many"``; a worker computes a chunk when it has arrived whole.

    The numbers are kept in read-only arrays: of one entry a worker ``compute_fixed``,
    ``compute_per_unit``, ``memory``, ``release`` and ``deadline``; of one entry a source
    ``source_release``, ``own_fixed`` and ``own_per_unit`` (infinite where it does not compute), and
    ``held`` (None where all hold the same); tables of sources and workers ``send_fixed`` and
    ``send_per_unit`` (infinite where there is no link).

    Parameters
    ----------
    sources
        The sources, in the order that indexes them, objects or tables as in files.
    workers
        The workers, without returns, prices, and costs beyond a size.

    >>> grid = Sources(
    ...     [Source(load=6.0, send=[1.0, 2.0]), Source(load=4.0, send=[3.0, 1.0])],
    ...     [Worker(compute=3.0), Worker(compute=5.0)],
    ... )
    >>> grid.send_per_unit.tolist(), grid.held.tolist()
    ([[1.0, 2.0], [3.0, 1.0]], [6.0, 4.0])
    """

    topology = "sources"
    ENTRIES = "workers"
    IS = "it has several sources"
    FIELDS = ("load", "rounds", "ports", "deadline", "options")
    RULES: ClassVar[Mapping[str, Rule]] = {
        name: RULES[name] for name in ("compute_fixed", "compute_per_unit", *LIMITS)
    }
    master = None

    compute_fixed: Floats
    compute_per_unit: Floats
    memory: Floats
    release: Floats
    deadline: Floats

    def __init__(
        self,
        sources: Iterable[Source | Mapping[str, Any]],
        workers: Iterable[Worker | Mapping[str, Any]],
    ) -> None:
        crew = self._read(workers, Worker, "P", 1)
        self._plain(crew)
        holders = listed(sources, Source, "platform.sources", "sources")
        self.source_names = tuple(
            holder.name or f"S{k}" for k, holder in enumerate(holders, start=1)
        )
        if not holders:
            self._mistakes.add("platform.sources", "is empty; somebody has to hold the load")
        own = [as_affine(holder.compute or 0.0) for holder in holders]
        alone = [holder.compute is not None for holder in holders]
        self.source_release = self._entries(
            "release", [holder.release for holder in holders], RULES["release"]
        )
        self.own_fixed = self._entries("compute.fixed", [c.fixed for c in own], FIXED_COST)
        own_per_unit = self._entries("compute.per_unit", [c.per_unit for c in own], UNIT_COST)
        self.own_per_unit = _frozen(np.where(alone, own_per_unit, np.inf))
        self.held = self._shares([holder.load for holder in holders])
        table = [self._links(index, holder, crew) for index, holder in enumerate(holders)]
        shape = len(holders), len(crew)
        self.send_fixed = _frozen(np.reshape([fixed for fixed, _ in table], shape))
        self.send_per_unit = _frozen(np.reshape([per_unit for _, per_unit in table], shape))

    def _plain(self, crew: Sequence[Worker]) -> None:
        """Note what workers of several sources don't know."""
        for index, worker in enumerate(crew):
            for name, given in (
                ("return", worker.return_ is not None),
                ("price", worker.price != NO_COST),
                ("compute.beyond", bool(getattr(worker.compute, "beyond", ()))),
            ):
                if given:
                    text = "is for stars; workers of several sources don't have it"
                    self._mistakes.add(f"platform.workers[{index}].{name}", text)

    def _entries(self, part: str, values: Sequence[Any], rule: Rule) -> Floats:
        return _frozen(self._mistakes.column(f"platform.sources[{{}}].{part}".format, values, rule))

    def _shares(self, loads: Sequence[Any]) -> Floats | None:
        """Return the loads of the sources, None where all hold the same."""
        missing = [index for index, load in enumerate(loads) if load is None]
        if len(missing) == len(loads):
            return None
        for index in missing:
            text = "is missing; either every source says its load, or all hold the same"
            self._mistakes.add(f"platform.sources[{index}].load", text)
        return self._entries("load", [0.0 if load is None else load for load in loads], HELD)

    def _links(self, index: int, source: Source, crew: Sequence[Worker]) -> tuple[Floats, Floats]:
        """Return the fixed costs and the costs per unit of a source's sends."""
        place, costs = f"platform.sources[{index}].send", source.send
        if costs is None:
            costs = [worker.send for worker in crew]
            places = "platform.workers[{}].send"
        elif isinstance(costs, Affine):
            places, costs = place, [costs] * len(crew)
        else:
            places = f"{place}[{{}}]"
        assert isinstance(costs, Sequence)
        if len(costs) != len(crew):
            raise ProblemError(
                (Mistake(place, f"has {len(costs)} entries for {len(crew)} workers"),)
            )
        known = frozenset(mistake.place for mistake in self._mistakes.found)
        one_for_all = places == place
        fixed, per_unit = (
            self._mistakes.column(
                f"{places}.{part}".format,
                [getattr(cost, part) for cost in costs[: 1 if one_for_all else None]],
                rule,
                known=known,
            )
            for part, rule in (("fixed", FIXED_COST), ("per_unit", LINK))
        )
        shape = (len(crew),)
        return np.broadcast_to(fixed, shape), np.broadcast_to(per_unit, shape)

    def __repr__(self) -> str:
        return f"Sources({len(self.source_names)} sources, {len(self)} workers)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sources) or self.source_names != other.source_names:
            return False
        names = "held", "source_release", "own_fixed", "own_per_unit", "send_fixed", "send_per_unit"
        return bool(super().__eq__(other)) and equal_in(names, self, other)

    __hash__ = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources as objects, made on demand, each with a cost for every worker."""
        return tuple(
            Source(
                name=name,
                load=None if self.held is None else float(self.held[index]),
                send=tuple(self._cost("send", (index, worker)) for worker in range(len(self))),
                compute=self._cost("own", index) if self.computes[index] else None,
                release=float(self.source_release[index]),
            )
            for index, name in enumerate(self.source_names)
        )

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers as objects, made on demand; what sends cost is with the sources."""
        return tuple(
            Worker(
                name=name,
                compute=self._cost("compute", index),
                **{limit: float(getattr(self, limit)[index]) for limit in LIMITS},
            )
            for index, name in enumerate(self.names)
        )

    def with_copy(self, index: int, name: str) -> Sources:
        """Return the same with a copy of a worker behind it, over links that cost the same."""

        def doubled(entries: Any) -> tuple[Any, ...]:
            return (*entries[: index + 1], *entries[index:])

        crew = doubled(self.workers)
        crew = (*crew[: index + 1], replace(crew[index], name=name), *crew[index + 2 :])
        return Sources([replace(each, send=doubled(each.send)) for each in self.sources], crew)

    @cached_property
    def computes(self) -> NDArray[np.bool_]:
        """Whether each source computes."""
        return np.isfinite(self.own_per_unit)

    @cached_property
    def returns(self) -> NDArray[np.bool_]:
        """Whether each worker sends results back: none does."""
        return np.zeros(len(self), dtype=bool)

    @property
    def has_fixed_costs(self) -> bool:
        """Whether any send or computation has a fixed cost."""
        return bool(self.send_fixed.any() or self.compute_fixed.any() or self.own_fixed.any())

    @property
    def _taken(self) -> Mapping[str, str]:
        return {name: f"platform.sources[{k}]" for k, name in enumerate(self.source_names)}

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this platform."""
        mistakes.names("platform.sources[{}].name".format, self.source_names)
        super().collect_mistakes(mistakes)


def _frozen(values: Any) -> Floats:
    return frozen(np.array(values, dtype=np.float64))
