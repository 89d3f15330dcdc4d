"""Stars: a master and the workers it sends load to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.cached import cached_property
from makespan.core.costs import Affine, Convex, Price, as_affine
from makespan.core.errors import Mistake, ProblemError
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, Mistakes, Rule, quoted
from makespan.core.numeric.arrays import Floats, Integers, frozen
from makespan.core.numeric.sorting import sorted_by
from makespan.divisible.model.columns import Columns, listed
from makespan.divisible.model.machines import (
    NO_COST,
    PRICE,
    Master,
    Pairs,
    PiecewiseCosts,
    Worker,
    check_master,
    check_pairs,
    master_of,
)

RULES = {
    "send_fixed": FIXED_COST,
    "send_per_unit": UNIT_COST,
    "compute_fixed": FIXED_COST,
    "compute_per_unit": UNIT_COST,
    "return_fixed": FIXED_COST,
    "return_per_unit": UNIT_COST,
    "memory": Rule("the largest chunk is 0 or more units, or inf", infinite=True),
    "release": Rule("a release time is 0 or more seconds"),
    "deadline": Rule("a deadline is 0 or more seconds, or inf", infinite=True),
    "price_fixed": PRICE,
    "price_per_unit": PRICE,
    "price_per_second": PRICE,
}
NUMBERS = tuple(RULES)


class Star(Columns):
    """A master and its workers, each behind a link of its own; a bus where all sends cost alike.

    The numbers are kept in read-only columns, one entry a worker: ``send_fixed``,
    ``send_per_unit``, ``compute_fixed``, ``compute_per_unit``, ``return_fixed``,
    ``return_per_unit`` (zero where nothing is returned), ``memory``, ``release``, ``deadline``,
    ``price_fixed``, ``price_per_unit``, ``price_per_second``. What computing costs beyond some
    sizes of chunks is in ``beyond``.

    Parameters
    ----------
    workers
        The workers, in the order that indexes them: objects, or tables as in files; or a mapping
        of them from their names.
    master
        The master, or a table of it; or ``"choose"``: one of the ``workers``, all on one bus,
        becomes the master, and its own link is then unused.

    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> list(star.names), star.send_per_unit.tolist()
    (['P1', 'P2'], [1.0, 2.0])
    >>> Star([{"send": 1.0, "compute": 3.0}, {"send": 2.0, "compute": 5.0}]) == star
    True
    """

    topology = "star"
    ENTRIES = "workers"
    IS = "it is a star"
    RULES = RULES

    master: Master | Literal["choose"]
    send_fixed: Floats
    send_per_unit: Floats
    compute_fixed: Floats
    compute_per_unit: Floats
    return_fixed: Floats
    return_per_unit: Floats
    memory: Floats
    release: Floats
    deadline: Floats
    price_fixed: Floats
    price_per_unit: Floats
    price_per_second: Floats
    beyond: PiecewiseCosts

    def __init__(
        self,
        workers: Iterable[Worker | Mapping[str, Any]] | Mapping[str, Worker | Mapping[str, Any]],
        *,
        master: Master | Mapping[str, Any] | Literal["choose"] | None = None,
    ) -> None:
        self.master = master_of(master)
        crew = self._read(workers, Worker, "P", self._first)
        self._set_beyond([getattr(worker.compute, "beyond", ()) for worker in crew])

    def _set_beyond(self, pairs: Sequence[Any] | None) -> None:
        """Take over what chunks cost beyond some sizes, of each worker; None: of none."""
        if pairs is None or not any(pairs):
            self.beyond = PiecewiseCosts.none(len(self))
            return
        if len(pairs) != len(self):
            text = f"has {len(pairs)} entries for {len(self)} workers"
            raise ProblemError((Mistake("platform.compute_beyond", text),))
        place = self.place("compute_beyond")
        self.beyond = check_pairs(pairs, self.compute_per_unit, place, self._mistakes)

    @property
    def _first(self) -> int:
        """The number of the first worker that has no name: ``P0`` is the master."""
        return 0 if self.master == "choose" else 1

    @classmethod
    def bus(
        cls,
        *,
        send: Affine | float,
        workers: Iterable[Worker | Mapping[str, Any]],
        master: Master | Mapping[str, Any] | Literal["choose"] | None = None,
    ) -> Star:
        """Build a star in which sending costs the same for every worker.

        >>> Star.bus(send=2.0, workers=[Worker(compute=3.0)]).send_per_unit.tolist()
        [2.0]
        """
        crew = listed(workers, Worker, "platform.workers", "workers")
        return cls([replace(worker, send=as_affine(send)) for worker in crew], master=master)

    @classmethod
    def from_arrays(
        cls,
        *,
        send_per_unit: ArrayLike,
        compute_per_unit: ArrayLike,
        send_fixed: ArrayLike = 0.0,
        compute_fixed: ArrayLike = 0.0,
        return_per_unit: ArrayLike = 0.0,
        return_fixed: ArrayLike = 0.0,
        memory: ArrayLike = math.inf,
        release: ArrayLike = 0.0,
        deadline: ArrayLike = math.inf,
        price_fixed: ArrayLike = 0.0,
        price_per_unit: ArrayLike = 0.0,
        price_per_second: ArrayLike = 0.0,
        compute_beyond: Sequence[Pairs] | None = None,
        names: Sequence[str] | None = None,
        master: Master | Mapping[str, Any] | Literal["choose"] | None = None,
    ) -> Star:
        """Build a star from columns, without an object per worker.

        Parameters
        ----------
        send_per_unit, compute_per_unit, ...
            Arrays of one length n, or scalars for all workers; seconds, per unit of input load.
        compute_beyond
            For each worker its pairs, as of :class:`Convex`; () where there are none.
        names
            n names; ``P1``, ``P2``, … by default.
        master
            As for :class:`Star`.

        Raises
        ------
        ProblemError
            If the lengths differ or an entry is not a number.

        >>> Star.from_arrays(send_per_unit=[1.0, 2.0], compute_per_unit=3.0).names[1]
        'P2'
        """
        given = {name: value for name, value in locals().items() if name in RULES}
        star = cls((), master=master)
        star._take(given, names, "P", first=star._first)
        star._set_beyond(compute_beyond)
        return star

    def __repr__(self) -> str:
        chosen = "chosen" if self.master == "choose" else repr(self.master)
        return f"Star({len(self)} workers, master={chosen})"

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The workers as objects, made on demand."""
        return tuple(self.worker(index) for index in range(len(self)))

    def worker(self, index: int) -> Worker:
        """Return one worker as an object."""
        back, price = self._cost("return", index), self._cost("price", index)
        compute = self._cost("compute", index)
        second, beyond = float(self.price_per_second[index]), self.beyond.of_worker(index)
        return Worker(
            name=self.names[index],
            send=self._cost("send", index),
            compute=Convex(compute.fixed, compute.per_unit, beyond) if beyond else compute,
            return_=None if back == NO_COST else back,
            memory=float(self.memory[index]),
            release=float(self.release[index]),
            deadline=float(self.deadline[index]),
            price=Price(price.fixed, price.per_unit, second) if second else price,
        )

    def without(self, index: int, master: Master) -> Star:
        """Return the star of the other workers, in their order, with another master."""
        rows = np.delete(np.arange(len(self)), index)
        return self.at(rows, names=tuple(self.names[row] for row in rows.tolist()), master=master)

    def at(
        self, rows: Integers, *, names: Sequence[str], master: Master | Literal["choose"]
    ) -> Star:
        """Return the star of the workers at some rows, by other names."""
        pairs = [self.beyond.of_worker(row) for row in rows] if self.beyond else None
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in NUMBERS}
        return Star.from_arrays(names=names, master=master, compute_beyond=pairs, **columns)

    def changed(self, *, master: Master | None = None, **columns: Any) -> Star:
        """Return the star with another master, or with other columns."""
        kept: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        kept["compute_beyond"] = self.beyond.pairs if self.beyond else None
        master_ = self.master if master is None else master
        return Star.from_arrays(names=self.names, master=master_, **{**kept, **columns})

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, Star) and self.beyond == other.beyond

    __hash__ = None

    @property
    def master_cost(self) -> Affine:
        """The master's cost of computing, zero if it does not compute."""
        cost = self.master.compute if isinstance(self.master, Master) else None
        return cost if isinstance(cost, Affine) else Affine()

    def compute_seconds(self, worker: Integers, amount: Floats) -> Floats:
        """Return how long workers (from 0) compute chunks of these amounts."""
        seconds = self.compute_fixed[worker] + self.compute_per_unit[worker] * amount
        if self.beyond:
            seconds += self.beyond.seconds(self.compute_per_unit, worker, amount)
        return seconds

    @cached_property
    def by_send_cost(self) -> Integers:
        """The workers by non-decreasing send cost per unit, ties by index."""
        return frozen(sorted_by(self.send_per_unit))

    def range_of(self, name: str) -> tuple[float, float]:
        """Return the least and the greatest entry of a column, looked up once; (inf, -inf) of none.

        >>> Star([Worker(send=1.0, compute=3.0, memory=2.0)]).range_of("memory")
        (2.0, 2.0)
        """
        if name not in self._ranges:
            column: Floats = getattr(self, name)
            self._ranges[name] = (
                float(column.min(initial=math.inf)),
                float(column.max(initial=-math.inf)),
            )
        return self._ranges[name]

    @cached_property
    def _ranges(self) -> dict[str, tuple[float, float]]:
        return {}

    @cached_property
    def returns(self) -> NDArray[np.bool_]:
        """Whether each worker sends results back."""
        return frozen((self.return_fixed > 0) | (self.return_per_unit > 0))

    @cached_property
    def has_fixed_costs(self) -> bool:
        """Whether any send, computation or return has a fixed cost."""
        master = self.master
        return bool(
            any(self.range_of(f"{of}_fixed")[1] > 0 for of in ("send", "compute", "return"))
            or (isinstance(master, Master) and as_affine(master.compute or 0.0).fixed)
        )

    @property
    def is_bus(self) -> bool:
        """Whether sending costs the same for every worker."""
        return len(self) == 0 or bool(
            np.all(self.send_per_unit == self.send_per_unit[0])
            and np.all(self.send_fixed == self.send_fixed[0])
        )

    def collect_mistakes(self, mistakes: Mistakes) -> None:
        """Note everything that is wrong with this platform."""
        if len(self) == 0 and not isinstance(self.master, Master):
            mistakes.add("platform.machines", "is empty; a bus has at least one machine")
        super().collect_mistakes(mistakes)
        if self.master == "choose":
            if not self.is_bus:
                mistakes.add("platform.master", "'choose' needs a bus: one send cost for all")
        elif isinstance(self.master, Master):
            check_master(self.master, mistakes)
        else:
            found = quoted(self.master)
            mistakes.add("platform.master", f"{found} is not a master; it is a Master or 'choose'")
