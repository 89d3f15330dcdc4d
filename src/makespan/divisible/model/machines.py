"""The machines of a star: the master, and the workers it sends load to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from makespan.core.costs import Affine, as_affine, as_convex, as_price
from makespan.core.inputs.mistakes import NO_NAME, Mistakes, quoted
from makespan.core.inputs.rules import FIXED_COST, UNIT_COST, Rule, whole
from makespan.core.inputs.tables import from_table

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
        object.__setattr__(self, "send", as_affine(self.send))
        object.__setattr__(self, "compute", as_convex(self.compute))
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
        if self.compute is not None:
            object.__setattr__(self, "compute", as_affine(self.compute))


PRICE = Rule("a price is 0 or more")
UPLINK = Rule("an uplink is above 0 units per second", strictly=True)
SENDS = whole("the sends at a time are")


def master_of(given: Any) -> Any:
    """Return what was given for a master; a table stands for a :class:`Master`."""
    if given is None:
        return Master()
    return from_table(Master, given, "platform.master") if isinstance(given, Mapping) else given


def check_master(master: Master, mistakes: Mistakes) -> None:
    """Note everything that is wrong with a master."""
    if not isinstance(master.name, str) or not master.name:
        mistakes.add("platform.master.name", f"{quoted(master.name)} {NO_NAME}")
    if isinstance(master.compute, Affine):
        mistakes.number("platform.master.compute.fixed", master.compute.fixed, FIXED_COST)
        mistakes.number("platform.master.compute.per_unit", master.compute.per_unit, UNIT_COST)
    if master.uplink is not None:
        mistakes.number("platform.master.uplink", master.uplink, UPLINK)
    if master.sends is not None:
        mistakes.number("platform.master.sends", master.sends, SENDS)
