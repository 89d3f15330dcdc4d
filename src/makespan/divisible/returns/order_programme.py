"""The linear programme of one round with returns, for given orders.

For every worker that takes part, the sends up to and including its own, its computation, and the
returns from its own on fit into T; with one port so do all sends and returns together:

    sum_{j sent by i} (C_j + c_j x_j) + W_i + w_i x_i + sum_{j returns from i} (D_j + d_j x_j) <= T
    sum_j (C_j + D_j + (c_j + d_j) x_j) <= T

The load is placed in the least T, or the most load by a given T.
"""

from collections.abc import Iterable

import numpy as np

from makespan.backends.answer import Answer
from makespan.backends.highs import SMALL, memory_of
from makespan.backends.repeated import Repeated
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.system.memory import claim
from makespan.divisible.returns.decisions import Orders, Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import TransferSequence


class OrderProgramme:
    """The programme for one pair of orders after another, dense: for up to some dozens of workers.

    Workers that are *undecided* have no place in the orders yet: they are held to what is true
    wherever they go. The value is then a bound for all ways to decide them; so it is where a
    worker that returns is among the sends only. An undecided worker that may be left out spreads
    its fixed costs over the most it can do before ``horizon``.

    ``horizon``: plans that do not end before it are of no interest.
    """

    def __init__(self, terms: Terms, horizon: float) -> None:
        self.terms = terms
        self.count = count = len(terms)
        self.most = terms.most(min(horizon, terms.end))
        spread = np.zeros(count)
        pays = (terms.start_up > 0) & (self.most > 0)
        spread[pays] = 1.0 / self.most[pays]
        optional = terms.optional
        self._send = terms.send + np.where(optional, terms.send_fixed * spread, 0.0)
        self._back = terms.back + np.where(optional, terms.back_fixed * spread, 0.0)
        compute = terms.compute + np.where(optional, terms.compute_fixed * spread, 0.0)
        self._alone = self._send + compute + self._back
        self._pays_anyway = ~optional
        cost = np.full(count + 2, -1.0 if terms.load is None else 0.0)
        cost[-1] = 0.0 if terms.load is None else 1.0
        low = np.full(count + 2 + terms.ports, -np.inf)
        if terms.load is not None:
            low[0] = terms.load
        self._programme = Repeated(cost, low)
        self._own = terms.own

    @property
    def solved(self) -> int:
        """How many programmes were solved."""
        return self._programme.solved

    @property
    def amount(self) -> Floats:
        """The load of each worker in the last solution."""
        return self._programme.values[: self.count]

    @property
    def own(self) -> float:
        """The master's load in the last solution."""
        return float(self._programme.values[self.count])

    def value(self, orders: Orders, undecided: Iterable[int] = ()) -> float:
        """Return the least T, or minus the most load; infinite where there is no plan."""
        terms, count = self.terms, self.count
        sent, back = _places(orders.send, count), _places(orders.back, count)
        here = np.zeros(count, dtype=bool)
        here[list(orders.send)] = True
        open_ = np.zeros(count, dtype=bool)
        open_[list(undecided)] = True
        before = (sent <= sent[:, np.newaxis]) & here & here[:, np.newaxis]
        behind = (back >= back[:, np.newaxis]) & (back >= 0) & (back[:, np.newaxis] >= 0)
        matrix = np.zeros((count + 2 + terms.ports, count + 2))
        high = np.zeros(len(matrix))
        matrix[1:, -1] = -1.0
        matrix[0, : count + 1] = 1.0
        high[0] = np.inf if terms.load is None else terms.load
        body = matrix[1 : count + 1, :count]
        body[:] = before * terms.send + behind * terms.back
        np.fill_diagonal(body, np.where(here, terms.total, np.where(open_, self._alone, 0.0)))
        pays = here | (open_ & self._pays_anyway)
        high[1 : count + 1] = -np.where(
            here,
            before @ terms.send_fixed
            + terms.compute_fixed
            + behind @ terms.back_fixed
            + np.where(back < 0, terms.back_fixed, 0.0),
            np.where(pays, terms.start_up, 0.0),
        )
        self._ports(matrix, high, here, open_, pays)
        upper = np.full(count + 2, np.inf)
        upper[:count] = np.where(here, terms.memory, np.where(open_, self.most, 0.0))
        upper[count] = 0.0
        if orders.own and self._own is not None:
            upper[count] = np.inf
            matrix[-1, count] = self._own.per_unit
            high[-1] = -self._own.fixed
        upper[-1] = terms.end
        if terms.load is None:  # the end is given
            high[1:] += terms.end
            matrix[1:, -1] = 0.0
        return self._programme.solve(matrix, high, upper)

    def _ports(
        self, matrix: Floats, high: Floats, here: np.ndarray, open_: np.ndarray, pays: np.ndarray
    ) -> None:
        """Fill the rows of the ports, behind those of the workers."""
        terms, count = self.terms, self.count
        send = np.where(here, terms.send, np.where(open_, self._send, 0.0))
        back = np.where(here, terms.back, np.where(open_, self._back, 0.0))
        send_fixed, back_fixed = pays @ terms.send_fixed, pays @ terms.back_fixed
        row = count + 1
        if terms.ports == 1:
            matrix[row, :count] = send + back
            high[row] = -(send_fixed + back_fixed)
            return
        matrix[row, :count], matrix[row + 1, :count] = send, back
        high[row], high[row + 1] = -send_fixed, -back_fixed


def _places(order: tuple[int, ...], count: int) -> Integers:
    place = np.full(count, -1, dtype=np.int64)
    place[list(order)] = np.arange(len(order))
    return place


def claim_sparse(workers: int) -> None:
    """Refuse more workers than :func:`solve_sparse` has memory for, before any is listed."""
    size = memory_of(2 * workers, 8 * workers)  # at least: more where all return
    if size > SMALL:
        claim(size, f"the linear programme of {workers:,} workers with returns")


def solve_sparse(terms: Terms, orders: Orders, control: Control) -> tuple[Answer, Floats, float]:
    """Solve for one pair of orders in O(n) entries; return the answer, the loads, the master's."""
    sequence = TransferSequence(worker=orders.send, transfers=tuple(orders.transfers.tolist()))
    built = TransferProgramme(terms, sequence, own=orders.own and terms.own is not None)
    answer = built.programme.solve(control)
    amount = np.zeros(len(terms))
    if not answer.found:
        return answer, amount, 0.0
    amount[list(orders.send)] = np.maximum(0.0, answer.values[built.amount])
    return answer, amount, max(0.0, float(answer.values[built.own].sum()))
