"""The machines of a star, and the sizes beyond which the units of a chunk take them longer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.costs import Affine, as_affine, as_convex, as_price, convert
from makespan.core.inputs.rules import FIXED_COST, NO_NAME, UNIT_COST, Mistakes, Rule, quoted, whole
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.divisible.model.columns import from_table

NO_COST = Affine(0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A machine that receives load from the master.

    Costs are :class:`Affine`, or a number of seconds per unit. They are validated by the
    :class:`DivisibleLoad` that uses them.

    Parameters
    ----------
    name
        Unique; ``P1``, ``P2``, … by position where it is empty.
    send, compute, return_
        Costs of sending load here, computing it, and returning its results: seconds, per unit
        of input load. Without ``return_`` nothing is sent back. ``compute`` may be
        :class:`Convex`: slower beyond the sizes of chunks that fit into a cache or a memory.
    memory
        The largest chunk, units of load.
    release
        From when on it computes, seconds.
    deadline
        By when its computations end, seconds.
    price
        What using this worker costs: ``fixed`` once, ``per_unit`` for its load, ``per_second`` of
        the whole plan.

    >>> Worker(name="P1", send=1.0, compute=Affine(0.5, 3.0)).compute.fixed
    0.5
    """

    name: str = ""
    send: Affine | float = NO_COST
    compute: Affine | float = NO_COST
    return_: Affine | float | None = None
    memory: float = math.inf
    release: float = 0.0
    deadline: float = math.inf
    price: Affine | float = NO_COST

    def __post_init__(self) -> None:
        convert(self, send=as_affine, compute=as_convex, price=as_price, return_=as_affine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """The machine that holds the load.

    Parameters
    ----------
    name
        Its name.
    compute
        Its cost of computing (while it communicates); None if it does not compute. It takes its
        part piece by piece from where the load lies, so nothing is slower beyond a size.
    uplink
        With ``ports="many"``: units per second that all its sends together can carry.
    sends
        With ``ports="many"``: how many sends it can have under way at a time.

    >>> import makespan
    >>> worker = makespan.Worker(send=1, compute=2)
    >>> star = makespan.Star([worker], master=makespan.Master(compute=3))
    >>> makespan.solve(makespan.DivisibleLoad(load=6, platform=star)).makespan
    9.0
    """

    name: str = "P0"
    compute: Affine | float | None = None
    uplink: float | None = None
    sends: int | None = None

    def __post_init__(self) -> None:
        convert(self, compute=as_affine)


PRICE = Rule("a price is 0 or more")
UPLINK = Rule("an uplink is above 0 units per second", strictly=True)
SENDS = whole("the sends at a time are")


def master_of(given: Any) -> Any:
    """Return what was given for a master; a table stands for a :class:`Master`."""
    if given is None:
        return Master()
    return from_table(Master, given, "platform.master") if isinstance(given, Mapping) else given


def check_master(master: Master, mistakes: Mistakes) -> None:
    if not isinstance(master.name, str) or not master.name:
        mistakes.add("platform.master.name", f"{quoted(master.name)} {NO_NAME}")
    if isinstance(master.compute, Affine):
        mistakes.number("platform.master.compute.fixed", master.compute.fixed, FIXED_COST)
        mistakes.number("platform.master.compute.per_unit", master.compute.per_unit, UNIT_COST)
    if master.uplink is not None:
        mistakes.number("platform.master.uplink", master.uplink, UPLINK)
    if master.sends is not None:
        mistakes.number("platform.master.sends", master.sends, SENDS)


SIZE = Rule("a size beyond which a chunk takes longer is 0 or more units")
PAIRS = "it is a list of pairs: a size, and the seconds of a unit beyond it"

Pairs = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PiecewiseCosts:
    """Pieces of convex computing costs, each beyond the one before it; no level where all is
    affine. Both arrays are (levels, workers).
    """

    above: Floats  # the size from which on a level counts, units; infinite where there is none
    per_unit: Floats  # what a unit beyond that size costs, seconds; 0 where there is none

    @classmethod
    def of(cls, pairs: Sequence[Pairs]) -> PiecewiseCosts:
        """Return the columns of pairs (size, cost per unit), a tuple of them for each worker.

        >>> PiecewiseCosts.of([((2.0, 4.0), (8.0, 9.0)), ()]).above.tolist()
        [[2.0, inf], [8.0, inf]]
        """
        levels = max(map(len, pairs), default=0)
        above = np.full((levels, len(pairs)), np.inf)
        per_unit = np.zeros((levels, len(pairs)))
        for worker, mine in enumerate(pairs):
            for level, (size, cost) in enumerate(mine):
                above[level, worker], per_unit[level, worker] = size, cost
        return cls(above=frozen(above), per_unit=frozen(per_unit))

    @classmethod
    def none(cls, workers: int) -> PiecewiseCosts:
        """Return the columns of so many workers of affine costs."""
        return cls(above=np.empty((0, workers)), per_unit=np.empty((0, workers)))

    def __len__(self) -> int:
        return len(self.above)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewiseCosts):
            return NotImplemented
        mine, its = (self.above, self.per_unit), (other.above, other.per_unit)
        return all(map(np.array_equal, mine, its))

    __hash__ = None  # type: ignore[assignment]

    @property
    def pairs(self) -> list[Pairs]:
        return [self.of_worker(worker) for worker in range(self.above.shape[1])]

    @property
    def there(self) -> NDArray[np.bool_]:
        """Whether each worker has each level, (levels, workers)."""
        return np.isfinite(self.above)

    def of_worker(self, worker: int) -> Pairs:
        columns = self.above[:, worker].tolist(), self.per_unit[:, worker].tolist()
        return tuple((size, cost) for size, cost in zip(*columns, strict=True) if size < np.inf)

    def scaled(self, unit: float, rate: float) -> PiecewiseCosts:
        """Return the same with sizes in ``unit``, costs times ``rate``."""
        return PiecewiseCosts(above=self.above / unit, per_unit=self.per_unit * rate)

    def steeper(self, per_unit: Floats) -> Floats:
        """Return how much more a unit costs on each level than below it, (levels, workers)."""
        below = np.concatenate([per_unit[np.newaxis], self.per_unit[:-1]])
        return np.where(self.there, self.per_unit - below, 0.0)

    def seconds(self, per_unit: Floats, worker: Integers, amount: Floats) -> Floats:
        """Return what chunks cost more than at the least cost per unit, seconds.

        >>> beyond = PiecewiseCosts.of([((2.0, 4.0),)])
        >>> beyond.seconds(np.array([1.0]), np.array([0, 0]), np.array([1.0, 5.0])).tolist()
        [0.0, 9.0]
        """
        more = np.zeros(len(worker))
        for above, steeper in zip(self.above, self.steeper(per_unit), strict=True):
            more += steeper[worker] * np.maximum(0.0, amount - above[worker])
        return more

    def lines(
        self, fixed: Floats, per_unit: Floats
    ) -> Iterator[tuple[Floats, Floats, NDArray[np.bool_]]]:
        """Yield for each level the line that it lies on: fixed part, cost per unit, who has it.

        A cost is the greatest of its affine cost and these lines.
        """
        levels = zip(self.above, self.per_unit, self.steeper(per_unit), self.there, strict=True)
        for above, cost, steeper, there in levels:
            fixed = fixed - np.where(there, steeper * np.where(there, above, 0.0), 0.0)
            yield fixed, cost, there


def check_pairs(
    given: Sequence[Any], per_unit: Floats, place: Callable[[int], str], mistakes: Mistakes
) -> PiecewiseCosts:
    """Return the columns of what was given for each worker; note every mistake in it."""
    right: list[Pairs] = []
    for worker, pairs in enumerate(given):
        if pairs == ():
            right.append(())
            continue
        before = len(mistakes.found)
        read = _checked(pairs, float(per_unit[worker]), place(worker), mistakes)
        right.append(() if len(mistakes.found) > before else read)
    return PiecewiseCosts.of(right)


def _checked(pairs: Any, least: float, place: str, mistakes: Mistakes) -> Pairs:
    """Return the pairs of one worker as floats, or as far as they are right."""
    if not isinstance(pairs, (tuple, list)):
        mistakes.add(place, f"{quoted(pairs)} is not allowed; {PAIRS}")
        return ()
    found: list[tuple[float, float]] = []
    size = -1.0
    for index, pair in enumerate(pairs):
        where = f"{place}[{index}]"
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            mistakes.add(where, f"{quoted(pair)} is not a pair; {PAIRS}")
            continue
        above = mistakes.number(f"{where}[0]", pair[0], SIZE)
        cost = mistakes.number(f"{where}[1]", pair[1], UNIT_COST)
        if above <= size:
            mistakes.add(f"{where}[0]", f"{above!r} is not above {size!r}; sizes increase")
        if cost < least:
            text = f"{cost!r} is below {least!r}; from the cost per unit on, costs don't decrease"
            mistakes.add(f"{where}[1]", text)
        size, least = above, cost
        found.append((above, cost))
    return tuple(found)
