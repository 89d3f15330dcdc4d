"""What workers can do at most in the time that is left: a linear star that is never worse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.one_round.ending_together import Costs

CELLS = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Remainder:
    """Tables of a bound on the load that any workers do in the remaining time r <= T.

    A worker that starts with at most r seconds left gets at most A = (r - C - W)/(c + w). Its
    fixed cost C is then at least C/A a unit, and W at least W/A: with the costs per unit
    c + C/A and w + W/A and no fixed costs, every plan stays possible. So the linear star with
    these costs, served by non-decreasing c + C/A, bounds the load from above.

    The costs are tabulated for r at the upper end of each of G cells of (0, T].

    Parameters
    ----------
    place
        (G, n): the workers by non-decreasing c + C/A, those that can be used first.
    gain, keep
        (G, n): A/r, and the part 1 - (C + c A)/r of the port's time that the worker leaves, in
        the order of ``place``.
    usable
        (G,): how many workers can be used.
    """

    place: Integers
    gain: Floats
    keep: Floats
    usable: Integers

    @classmethod
    def within(cls, costs: Costs, horizon: float, cells: int = CELLS) -> Remainder:
        """Tabulate the bound for the time ``horizon``."""
        room = horizon * np.arange(1, cells + 1)[:, np.newaxis] / cells
        amount = (room - costs.start_up) / costs.total
        can = amount > 0.0
        amount[~can] = 0.0
        port = costs.send_fixed + costs.send * amount
        with np.errstate(divide="ignore", invalid="ignore"):
            per_unit = np.where(can, port / amount, np.inf)
        place = np.argsort(per_unit, axis=1, kind="stable")
        return cls(
            place=place,
            gain=np.take_along_axis(amount / room, place, axis=1),
            keep=np.take_along_axis(np.maximum(0.0, 1.0 - port / room), place, axis=1),
            usable=np.count_nonzero(can, axis=1),
        )

    def per_second(self, allowed: np.ndarray) -> Floats:
        """Return the bound of each cell, per second left, for some of the workers.

        Parameters
        ----------
        allowed
            (n,) of bool.
        """
        here = allowed[self.place]
        share = np.cumprod(np.where(here, self.keep, 1.0), axis=1)
        before = np.concatenate([np.ones((len(share), 1)), share[:, :-1]], axis=1)
        bound: Floats = (before * self.gain * here).sum(axis=1)
        return bound
