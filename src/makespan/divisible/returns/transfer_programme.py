"""The programme that sizes the chunks of a whole sequence of transfers, on ports or links.

Every send of the sequence has an amount; every transfer has a start and every computation an end.
A transfer waits for the one before it on its port or link, a computation for its send, for the
chunk before it on the same worker and for the worker's release, a return for its computation; and
all have ended by T. Memory limits, deadlines of workers, a budget and given loads are constraints,
whole units make it a mixed-integer programme. The load is placed in the least T, or the most load
by a given T. Sparse: O(1) entries a transfer.

Source: Yang and Casanova 2003, section 5, for a given order; the optimum that eq. 17 misses.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.backends.answer import WITHIN, Answer, Verdict
from makespan.backends.highs import Programme, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.divisible.model.plan import Plan
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_sequence import Behind, TransferSequence
from makespan.divisible.rounds.chain import Sized, only_costs, size_by_chain
from makespan.divisible.timing import timed


class TransferProgramme:
    """The programme of a sequence, with or without the master's work, and where its amounts are.

    ``behind`` says of the first chunks when they are computed by a worker without a front end.
    """

    def __init__(
        self, terms: Terms, sequence: TransferSequence, *, own: bool, behind: Behind = ()
    ) -> None:
        self.terms = terms
        self.sequence = sequence
        self.behind = behind
        self.programme = programme = Programme()
        self._worker = np.array(sequence.worker, dtype=np.int64)
        self._code = np.array(sequence.transfers, dtype=np.int64)
        is_open = terms.load is None
        weight, count = -1.0 if is_open else 0.0, len(self._worker)
        served = np.unique(self._worker)
        self._rent, self._fixed = float(terms.rent[served].sum()), terms.price_fixed[served].sum()
        mine, most = self._worker, np.inf if terms.load is None else terms.load
        paid = terms.price[mine] if terms.by_price else weight
        self.amount = programme.variables(
            count, cost=paid, upper=np.minimum(terms.memory[mine], most), integer=terms.whole
        )
        self.own = programme.variables(int(own), cost=weight, upper=most, integer=terms.whole)
        self._start = programme.variables(len(self._code))
        self._later = next_of_worker(self._worker)
        self._waits = self._later >= 0  # chunks before or behind others of their worker
        self._waits[self._later[self._waits]] = True
        self._waits |= np.isfinite(terms.deadline[mine])
        self._computed = np.full(count, -1, dtype=np.int64)
        self._computed[self._waits] = programme.variables(
            int(self._waits.sum()), upper=terms.deadline[mine[self._waits]]
        )
        paid = self._rent if terms.by_price else 1.0 - is_open
        self._end = int(programme.variables(1, cost=paid, upper=terms.end)[0])
        if terms.by_price:  # what the workers of the sequence cost in any case
            programme.variables(1, cost=self._fixed, lower=1.0, upper=1.0)
        if terms.load is not None:
            everything = np.concatenate([self.amount, self.own])
            programme.rows(everything[np.newaxis], 1.0, low=terms.load, high=terms.load)
        self._transfers()
        self._computations()
        self._limits()
        if own and terms.own is not None:
            row = [self.own[0], self._end]
            programme.row(row, [terms.own.per_unit, -1.0], high=-terms.own.fixed)

    def _transfers(self) -> None:
        """Each transfer is followed by the next, the last by the end; returns have to wait."""
        terms, rows, start = self.terms, self.programme.rows, self._start
        sends = self._code >= 0
        chunk = np.where(sends, self._code, -1 - self._code)
        mine = self._worker[chunk]
        fixed = np.where(sends, terms.send_fixed[mine], terms.back_fixed[mine])
        per_unit = np.where(sends, terms.send[mine], terms.back[mine])
        for lane, last, head in self._lanes(sends, chunk, fixed):
            followers = np.where(last, self._end, np.roll(start[lane], -1))
            table = beside(followers, start[lane], self.amount[chunk[lane]])
            low = fixed[lane] - np.where(last, 0.0, np.roll(head[lane], -1))
            at_once = ~last & sends[lane] & np.roll(sends[lane], -1)
            # elsewhere it may be better to let a send wait behind another on its port
            at_once &= terms.ports != 0 and not self.behind
            high = np.where(at_once, low, np.inf)
            rows(table, beside(1.0, -1.0, -per_unit[lane]), low=low, high=high)
        for line, kept in ((sends, terms.sends_in_turn), (~sends, terms.returns_in_turn)):
            if kept:
                rows(beside(start[line][1:], start[line][:-1]), [1.0, -1.0], low=0.0)
        back = np.flatnonzero(~sends)
        back = back[self._waits[chunk[back]]]
        rows(beside(start[back], self._computed[chunk[back]]), [1.0, -1.0], low=0.0)

    def _lanes(
        self, sends: NDArray[np.bool_], chunk: Integers, fixed: Floats
    ) -> Iterator[tuple[Integers, NDArray[np.bool_], Floats]]:
        """Yield the transfers of all ports, of all links, or of all places of a limit.

        One port after the other, with which transfers are the last on theirs, and how long before
        the one in front has ended each may begin: while it starts up.
        """
        at_once = np.zeros(len(chunk))
        if self.terms.ports == 1:
            yield np.arange(len(chunk)), np.arange(1, len(chunk) + 1) == len(chunk), at_once
            return
        for kind in (sends, ~sends):
            held = [(self._worker[chunk] if self.terms.ports == 0 else 0 * chunk, at_once)]
            if self.sequence.place and kind is sends:
                places = np.array(self.sequence.place, dtype=np.int64)[chunk]
                held.append((places, fixed if self.terms.data_lanes else at_once))
            for thing, head in held:
                some = np.flatnonzero(kind)
                some = some[np.argsort(thing[some], kind="stable")]
                yield some, np.append(thing[some][1:] != thing[some][:-1], True)[: len(some)], head

    def _limits(self) -> None:
        """Releases of workers, the budget, and loads that are given."""
        terms, rows, mine = self.terms, self.programme.rows, self._worker
        for some, fixed, per_unit in self._works(np.flatnonzero(terms.release[mine] > 0)):
            table = beside(self._done[some], self.amount[some])
            rows(table, beside(1.0, -per_unit), low=terms.release[mine[some]] + fixed)
        if np.isfinite(terms.budget):
            left = terms.budget - self._fixed
            table = np.append(self.amount, self._end)[np.newaxis]
            rows(table, np.append(terms.price[mine], self._rent), high=left)
        if terms.given is None:
            return
        for worker in np.flatnonzero(terms.given).tolist():
            load = float(terms.given[worker])
            self.programme.row(self.amount[mine == worker], 1.0, low=load, high=load)
        rows(self.amount[terms.given[mine] == 0][:, np.newaxis], 1.0, high=0.0)
        rows(self.own[:, np.newaxis], 1.0, low=terms.own_given, high=terms.own_given)

    def _works(self, chunks: Integers) -> Iterator[tuple[Integers, Floats, Floats]]:
        """Yield, of some chunks, those that a line of their workers' costs holds for, and it."""
        for fixed, per_unit, whose in self.terms.works:
            some = chunks[whose[self._worker[chunks]]]
            yield some, fixed[self._worker[some]], per_unit[self._worker[some]]

    def _computations(self) -> None:
        """Each chunk is computed after it came and after the chunk before it, and by the end.

        The end of the only chunk of a worker is no variable: its return begins behind that.
        """
        terms, rows, computed, mine = self.terms, self.programme.rows, self._computed, self._worker
        sends, later = self._code >= 0, self._later
        begin = np.empty(len(mine), dtype=np.int64)
        begin[self._code[sends]] = self._start[sends]
        done = np.full(len(mine), self._end)
        done[-1 - self._code[~sends]] = self._start[~sends]
        done[self._waits] = computed[self._waits]
        self._done = done
        for some, fixed, per_unit in self._works(np.arange(len(mine))):
            table = beside(done[some], begin[some], self.amount[some])
            factors = beside(1.0, -1.0, -terms.send[mine[some]] - per_unit)
            rows(table, factors, low=terms.send_fixed[mine[some]] + fixed)
        self._receptions(begin, later)
        before = np.full(len(mine), -1, dtype=np.int64)
        before[later[later >= 0]] = np.flatnonzero(later >= 0)
        for some, fixed, per_unit in self._works(np.flatnonzero(before >= 0)):
            table = beside(computed[some], computed[before[some]], self.amount[some])
            rows(table, beside(1.0, -1.0, -per_unit), low=fixed)
        rows(beside(self._end, computed[self._waits & (later < 0)]), [1.0, -1.0], low=0.0)

    def _receptions(self, begin: Integers, later: Integers) -> None:
        """Without a front end a chunk is computed between two receptions of its worker."""
        if not self.behind:
            return
        terms, rows, mine = self.terms, self.programme.rows, self._worker
        behind = np.array(self.behind, dtype=np.int64)
        for some, fixed, per_unit in self._works(np.flatnonzero(behind > np.arange(len(behind)))):
            last = behind[some]
            table = beside(self._computed[some], begin[last], self.amount[last], self.amount[some])
            factors = beside(1.0, -1.0, -terms.send[mine[last]], -per_unit)
            rows(table, factors, low=terms.send_fixed[mine[last]] + fixed)
        following = later[behind]
        first = np.flatnonzero(following >= 0)
        rows(beside(begin[following[first]], self._computed[first]), [1.0, -1.0], low=0.0)

    def plan(self, answer: Answer, load: float | None) -> Plan:
        """Return the plan of a solution; its amounts add up to the load, where there is one."""
        amount = np.maximum(0.0, answer.values[self.amount]) * self.terms.unit
        master = max(0.0, float(answer.values[self.own].sum())) * self.terms.unit
        transfers = self.sequence.transfers
        plan = Plan.of(self.sequence.worker, amount, master=master, transfers=transfers)
        if self.terms.whole:
            return replace(plan, amount=np.rint(plan.amount), master=float(np.rint(plan.master)))
        return plan if load is None else plan.fitted(load)


def size_by_programme(
    problem: DivisibleLoad, sequence: Integers, control: Control, transfers: ArrayLike | None = None
) -> tuple[Sized | None, Verdict]:
    """Return the best amounts for the workers of a sequence of chunks, and how their programme
    ended.

    The deadline of a problem is a limit. Of the ``transfers``, ``k`` sends chunk k, ``-1 - k``
    returns it; None: all sends. A master with a start-up is tried at work and idle, unless the plan
    ends so late that an idle one would gain from its help.
    """
    terms = Terms.of(problem)
    if problem.deadline is not None:
        terms = replace(terms, end=problem.deadline / terms.second)
    code = np.arange(len(sequence)) if transfers is None else np.asarray(transfers)
    given = TransferSequence(worker=tuple(sequence.tolist()), transfers=tuple(code.tolist()))
    best: Sized | None = None
    verdict, proved = Verdict.INFEASIBLE, True
    for own in terms.own_choices():
        if best is not None and best.makespan > problem.star.master_cost.fixed * (1 + WITHIN):
            break
        built = TransferProgramme(terms, given, own=own)
        answer = built.programme.solve(control)
        if answer.verdict is not Verdict.OPTIMAL:
            infeasible = answer.verdict is Verdict.INFEASIBLE
            proved, verdict = proved and infeasible, verdict if infeasible else answer.verdict
            continue
        plan = built.plan(answer, problem.load)
        plan = plan if transfers is not None else replace(plan, transfers=None)
        makespan = timed(problem, plan).makespan
        proved = proved and answer.proves(makespan / terms.second)
        if best is None or makespan < best.makespan:
            best = Sized(plan=plan, makespan=makespan, optimal=False)
    if best is None:
        return None, verdict
    return replace(best, optimal=proved), Verdict.OPTIMAL


def best_amounts(problem: DivisibleLoad, sequence: Integers, control: Control) -> Sized | None:
    """Return the best amounts of a sequence: the chain where it is proved, else the programme."""
    sized = size_by_chain(problem, sequence) if only_costs(problem) else None
    if sized is not None and sized.optimal:
        return sized
    return size_by_programme(problem, sequence, control)[0]


def next_of_worker(sequence: Integers) -> Integers:
    """Return for each chunk the next one of its worker, -1 where there is none.

    >>> next_of_worker(np.array([0, 1, 0, 0])).tolist()
    [2, -1, 3, -1]
    """
    by_worker = np.argsort(sequence, kind="stable")
    same = sequence[by_worker[1:]] == sequence[by_worker[:-1]]
    later = np.full(len(sequence), -1, dtype=np.int64)
    later[by_worker[:-1][same]] = by_worker[1:][same]
    return later
