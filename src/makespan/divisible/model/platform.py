"""Stars: a master and the workers it sends load to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.core.costs import Affine, Price, as_affine, as_price
from makespan.core.inputs.mistakes import NO_NAME, Mistakes, shown
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, Rule, whole
from makespan.core.inputs.tables import from_table, listed
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.numeric.sorting import sorted_by
from makespan.divisible.model.columns import Columns

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
        of input load. Without ``return_`` nothing is sent back.
    memory
        The largest chunk, units of load.
    release, deadline
        The computations here happen in this window, seconds.
    price
        What using this worker costs: ``fixed`` once, ``per_unit`` for its load, ``per_second`` of
        the whole plan.

    Examples
    --------
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
        for cost in ("send", "compute"):
            object.__setattr__(self, cost, as_affine(getattr(self, cost)))
        object.__setattr__(self, "price", as_price(self.price))
        if self.return_ is not None:
            object.__setattr__(self, "return_", as_affine(self.return_))


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """The machine that holds the load.

    Parameters
    ----------
    name
        Its name.
    compute
        Its cost of computing (while it communicates); None if it does not compute.
    uplink
        With ``ports="many"``: units per second that all its sends together can carry.
    sends
        With ``ports="many"``: how many sends it can have under way at a time.
    """

    name: str = "P0"
    compute: Affine | float | None = None
    uplink: float | None = None
    sends: int | None = None

    def __post_init__(self) -> None:
        if self.compute is not None:
            object.__setattr__(self, "compute", as_affine(self.compute))


PRICE = Rule("a price is 0 or more")
UPLINK = Rule("an uplink is above 0 units per second", strictly=True)
SENDS = whole("the sends at a time are")
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
    ``price_fixed``, ``price_per_unit``, ``price_per_second``.

    Parameters
    ----------
    workers
        The workers, in the order that indexes them: objects, or tables as in files.
    master
        The master, or a table of it; or ``"choose"``: one of the ``workers``, all on one bus,
        becomes the master, and its own link is then unused.

    Examples
    --------
    >>> star = Star([Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)])
    >>> list(star.names), star.send_per_unit.tolist()
    (['P1', 'P2'], [1.0, 2.0])
    >>> Star([{"send": 1.0, "compute": 3.0}, {"send": 2.0, "compute": 5.0}]) == star
    True
    """

    topology = "star"
    ENTRIES = "workers"
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

    def __init__(
        self,
        workers: Iterable[Worker | Mapping[str, Any]],
        *,
        master: Master | Mapping[str, Any] | Literal["choose"] | None = None,
    ) -> None:
        self.master = _master_of(master)
        self._read(workers, Worker, "P", self._first)

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
        names: Sequence[str] | None = None,
        master: Master | Mapping[str, Any] | Literal["choose"] | None = None,
    ) -> Star:
        """Build a star from columns, without an object per worker.

        Parameters
        ----------
        send_per_unit, compute_per_unit, ...
            Arrays of one length n, or scalars for all workers; seconds, per unit of input load.
        names
            n names; ``P1``, ``P2``, … by default.
        master
            As for :class:`Star`.

        Raises
        ------
        ProblemError
            If the lengths differ or an entry is not a number.

        Examples
        --------
        >>> Star.from_arrays(send_per_unit=[1.0, 2.0], compute_per_unit=3.0).names[1]
        'P2'
        """
        given = {name: value for name, value in locals().items() if name in RULES}
        star = cls((), master=master)
        star._take(given, names, "P", first=star._first)
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

        def cost(of: str) -> Affine:
            fixed = float(getattr(self, f"{of}_fixed")[index])
            return Affine(fixed, float(getattr(self, f"{of}_per_unit")[index]))

        back, price = cost("return"), cost("price")
        second = float(self.price_per_second[index])
        return Worker(
            name=self.names[index],
            send=cost("send"),
            compute=cost("compute"),
            return_=None if back == NO_COST else back,
            memory=float(self.memory[index]),
            release=float(self.release[index]),
            deadline=float(self.deadline[index]),
            price=Price(price.fixed, price.per_unit, second) if second else price,
        )

    def without(self, index: int, master: Master) -> Star:
        """Return the star of the other workers, in their order, with another master."""
        return Star.from_arrays(
            names=tuple(name for place, name in enumerate(self.names) if place != index),
            master=master,
            **{name: np.delete(getattr(self, name), index) for name in NUMBERS},
        )

    def changed(self, *, master: Master | None = None, **columns: ArrayLike) -> Star:
        """Return the star with another master, or with other columns."""
        kept = {name: getattr(self, name) for name in NUMBERS}
        master_ = self.master if master is None else master
        return Star.from_arrays(names=self.names, master=master_, **{**kept, **columns})

    @property
    def master_cost(self) -> Affine:
        """The master's cost of computing, zero if it does not compute."""
        cost = self.master.compute if isinstance(self.master, Master) else None
        return cost if isinstance(cost, Affine) else Affine()

    @cached_property
    def by_send_cost(self) -> Integers:
        """The workers by non-decreasing send cost per unit, ties by index."""
        order = sorted_by(self.send_per_unit)
        order.flags.writeable = False
        return order

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
        returns = (self.return_fixed > 0) | (self.return_per_unit > 0)
        returns.flags.writeable = False
        return returns

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
            _check_master(self.master, mistakes)
        else:
            found = shown(self.master)
            mistakes.add("platform.master", f"{found} is not a master; it is a Master or 'choose'")


def _master_of(given: Any) -> Any:
    """Return what was given for a master; a table stands for a :class:`Master`."""
    if given is None:
        return Master()
    return from_table(Master, given, "platform.master") if isinstance(given, Mapping) else given


def _check_master(master: Master, mistakes: Mistakes) -> None:
    if not isinstance(master.name, str) or not master.name:
        mistakes.add("platform.master.name", f"{shown(master.name)} {NO_NAME}")
    if isinstance(master.compute, Affine):
        mistakes.number("platform.master.compute.fixed", master.compute.fixed, FIXED_COST)
        mistakes.number("platform.master.compute.per_unit", master.compute.per_unit, UNIT_COST)
    if master.uplink is not None:
        mistakes.number("platform.master.uplink", master.uplink, UPLINK)
    if master.sends is not None:
        mistakes.number("platform.master.sends", master.sends, SENDS)
