"""Any star: a search over sequences of chunks, each sized by one programme."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress, islice, product

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.core.registry import Need, applicability, find_method, register
from makespan.core.schedule import Activity
from makespan.core.solution import Objective, Solution
from makespan.divisible.model.plan import Plan, price_of, sends_then_returns
from makespan.divisible.needs import ANY_STAR, ONE_GOAL, at_most, is_given
from makespan.divisible.one_round.masters import tries_masters
from makespan.divisible.one_round.plans import NO_MAXIMUM
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.returns.decisions import Terms
from makespan.divisible.returns.transfer_programme import TransferProgramme
from makespan.divisible.returns.transfer_sequence import (
    Behind,
    Receptions,
    TransferSequence,
    at_once,
)
from makespan.divisible.returns.transfers import if_valid, solution_of_answer
from makespan.divisible.rounds.sequences import FEW, Allowed, Send, dealt_out, respread, swapped
from makespan.divisible.rounds.uplink import lane_problems, place_in_lanes
from makespan.divisible.timing.dispatch import shares_links

SERVED = (
    "best-rate",
    "return-programme",
    "lifo",
    "fifo",
    "return-orders",
    "given-loads",
    "activation",
    "no-load",
    "bus",
    "star",
    "subset-dp",
    "milp",
)
"""Methods that leave nothing to do: a problem that one of them takes isn't searched again."""
SCANNED = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # rounds tried
OFTEN = 7  # of these numbers, tried for one worker alone
MAX_CHUNKS = 400  # of sequences that are tried but to keep a problem's own
MAX_LISTED = 100_000  # chunks of all the sequences that are listed before any is tried
MAX_MOVED = 40  # chunks up to which single ones are moved
MAX_WHOLE = 12  # chunks of whole units that are searched with, not rounded at the end
PROGRAMMES = 600
ENOUGH = 1e-4  # the relative gain below which more rounds are not tried
EMPTY = 1e-12  # of the load: chunks as small as that are rounding
SAME = 1e-9  # relative: values this near are the same
PROVING = 0.5  # of the time that is left: for the proof, which comes behind the search
MAX_ALL = 12  # workers of which all sequences may be few enough
MAX_WAYS = 16  # to compute without a front end, that are tried
MAX_AGAIN = 16  # workers up to which what `multi-round` has found is searched again
NOTHING_FOUND = "no sequence that was tried keeps the limits"


def _is_served(problem: DivisibleLoad) -> str | None:
    names = list(SERVED)
    if problem.rounds == 1 or not shares_links(problem):
        names.append("independent-links")
    if len(problem.star) > MAX_AGAIN:
        names.append("multi-round")
    for name in names:
        if applicability(find_method("divisible", name), problem).applies:
            return f"{name} applies"
    return None


@register(
    needs=(ANY_STAR, ONE_GOAL, Need("no transfers", is_given("transfers"))),
    reach=(at_most(2_000), Need("what no other method takes", _is_served)),
    proves="every sequence that the statement allows was tried, where they are few",
    complexity="a sparse linear programme a sequence, mixed-integer with whole units; "
    f"at most {PROGRAMMES} of them",
    source="linear programme of a given sequence: Benoit 2016, multi-round scheduling, and Yang "
    "and Casanova 2003, section 5; the sequence by local search",
)
def sequence_search(problem: DivisibleLoad, control: Control, *, effort: float = 1.0) -> Solution:
    """Local search over sequences of chunks; the amounts of each by one programme.

    It takes every field of a star. Subsets of the workers are served in several orders, then in
    more and more rounds; the best sequence is then changed chunk by chunk. Under an uplink one
    send at a time has all of it, or several have equal parts.
    """
    with control.reserving(PROVING * (control.remaining or 0.0)):
        return _searched(problem, control, programmes=int(PROGRAMMES * effort))


@tries_masters
def _searched(problem: DivisibleLoad, control: Control, *, programmes: int) -> Solution:
    best: Solution | None = None
    ways = list(lane_problems(problem))
    for behind, shape in zip(reversed(range(len(ways))), ways, strict=True):
        with control.reserving(behind / (behind + 1) * (control.remaining or 0.0)):
            search = SequenceSearch(
                shape.problem, control, programmes=programmes, lanes=shape.lanes
            )
            found = place_in_lanes(problem, shape, search.solution())
        if best is None or (found.schedule is not None and found.rank < best.rank):
            best = found
    assert best is not None
    if best.schedule is None and best.infeasible is None:
        best = _greedily(problem, control, best)
    return if_valid(problem, best)


def _greedily(problem: DivisibleLoad, control: Control, otherwise: Solution) -> Solution:
    """Return the plan of ``greedy``, for the makespan, where there was no time for a better one."""
    by_time = replace(problem, objective="makespan")
    method = find_method("divisible", "greedy")
    if problem.load is None or not applicability(method, by_time).applies:
        return otherwise
    schedule = method.run(by_time, control).schedule
    if schedule is None:
        return otherwise
    goal = None
    if problem.objective == "price":
        goal = Objective(name="price", value=price_of(problem.star, schedule))
    return Solution(schedule=schedule, objective=goal, stopped=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SequenceCase:
    """A sequence of sends, the chunks whose results return in order, and who shares places."""

    send: Send
    back: Send
    place: Send = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _SizedCase:
    """A case, its programme's answer (the end, the price, or minus the load), and its plan."""

    case: _SequenceCase
    answer: Answer
    plan: Plan
    behind: Behind

    @property
    def value(self) -> float:
        return self.answer.value


class SequenceSearch:
    """The search over the sequences of one problem with a given master and no uplink.

    ``lanes``: so many sends have their data under way at once; 0: what the problem says.
    """

    def __init__(
        self, problem: DivisibleLoad, control: Control, *, programmes: int, lanes: int = 0
    ) -> None:
        self.problem = problem
        self.control = control
        self.allowed = Allowed.of(problem)
        terms = Terms.of(problem)
        self.terms = replace(terms, at_a_time=lanes, data_lanes=True) if lanes else terms
        self.left = programmes
        self.best: _SizedCase | None = None
        self.tried: set[_SequenceCase] = set()
        self.verdicts: set[Verdict] = set()

    def solution(self) -> Solution:
        """Return the best plan found, and whether no other one is better."""
        cases = self._all_cases()
        if cases is None:
            self._begin()
            if self.allowed.entries is None and self.allowed.rounds != 1:
                self._more_rounds()
            stopped = self._improve()
        else:
            for case in cases:
                if not self._over():
                    self._size(case)
            stopped = self._over() or Verdict.NOTHING in self.verdicts
        if Verdict.UNBOUNDED in self.verdicts:
            return NO_MAXIMUM
        proved = cases is not None and not stopped
        if self.best is None:
            if proved and self.verdicts <= {Verdict.INFEASIBLE}:
                return Solution(schedule=None, infeasible="no sequence of chunks keeps the limits")
            return Solution(schedule=None, notes=(NOTHING_FOUND,), stopped=stopped)
        return self._solution(self.best, stopped, proved and Verdict.FEASIBLE not in self.verdicts)

    def sized(self, send: Send) -> Solution | None:
        """Return the best plan of one sequence, None where there is none."""
        found = self._try(send)
        if found is None:
            return None
        return if_valid(self.problem, self._solution(found, False, False))

    def _all_cases(self) -> list[_SequenceCase] | None:
        """Return all cases where they are few and leave nothing out that could be better.

        A worker computes its chunks in the order in which they come; that loses nothing where
        it gets one, or where nothing returns and it computes while it receives. On one port all
        sends come before the results; that loses nothing for a worker that gets one chunk.
        """
        problem, most = self.problem, self.left
        if self.allowed.rounds is None and self.allowed.entries is None:
            return None
        if not problem.served_once and (problem.has_returns or not problem.front_end):
            return None
        if self.allowed.entries is None and len(self.allowed.able) > MAX_ALL:
            return None
        if len(self.allowed.entries or ()) > MAX_LISTED:
            return None
        cases: list[_SequenceCase] = []
        listed = 0
        ways = 1 if self.terms.ports == 0 else None
        for send in self.allowed.everything():
            for place in dealt_out(len(send), self.terms.at_a_time):
                for back in islice(self.allowed.all_returned(send), ways):
                    cases.append(_SequenceCase(send=send, back=back, place=place))
                    listed += len(send)
                    if len(cases) > most or listed > MAX_LISTED or self._over():
                        return None
        return cases

    def _begin(self) -> None:
        """Try sequences of one round, and that of a plan that is known."""
        for send in self.allowed.starts(self._orders()):
            if self._over():
                return
            self._try(send)
        known = self.control.incumbent
        if known is not None and known.schedule is not None:
            schedule = known.schedule.renamed(self.problem.machines)
            sends = schedule.peer[schedule.rows_of(Activity.SEND)] - 1
            if len(sends) <= MAX_CHUNKS:
                self._try(tuple(sends.tolist()))

    def _orders(self) -> Iterator[Send]:
        """Yield orders of the workers: by costs, by start-ups, by release, by price."""
        star, able = self.problem.star, np.array(self.allowed.able, dtype=np.int64)
        keys = [star.send_per_unit, star.send_fixed + star.compute_fixed, star.compute_per_unit]
        keys += [-star.compute_per_unit, star.release]
        if self.problem.budget is not None or self.terms.by_price:
            keys.append(star.price_fixed + star.price_per_unit)
            seconds = star.send_per_unit + star.compute_per_unit
            per_unit = star.price_per_unit + star.price_per_second * seconds
            alone = star.price_fixed + (self.problem.load or 1.0) * per_unit
            keys += [star.price_per_second, alone]
        seen: set[Send] = set()
        for key in keys:
            order = tuple(able[np.argsort(key[able], kind="stable")].tolist())
            if order not in seen:
                seen.add(order)
                yield order

    def _more_rounds(self) -> None:
        """Repeat the best round, all workers, and single ones, more and more often.

        That ends where it gains next to nothing and no deadline is missed.
        """
        whole = next(self.allowed.starts(self._orders()), ())
        bases = [whole if self.best is None else self.best.case.send, whole]
        if np.isfinite(self.terms.memory).any():  # one worker may have to be served often
            bases += [(worker,) for worker in self.allowed.able[:FEW]]
        for base in dict.fromkeys(bases):
            most = MAX_CHUNKS // max(1, len(base))
            most = min(most, self.allowed.rounds or most)
            worse, least = 0, np.inf
            for rounds in (*(rounds for rounds in SCANNED if rounds < most), most):
                found = self._try(base * rounds)
                if found is not None:
                    worse = 0 if found.value < least - ENOUGH * abs(least) else worse + 1
                    least = min(least, found.value)
                if (worse == 2 and not self._late()) or self._over():
                    break
        self._own_rounds()

    def _own_rounds(self) -> None:
        """Serve one of a few workers more or less often than the others, while that helps."""
        before = None
        while self.best is not None and self.best is not before and len(self.allowed.able) <= FEW:
            before = self.best
            for worker in self.allowed.able:
                for often in (0, 1, *SCANNED[:OFTEN]):
                    self._try(respread(self.best.case.send, worker, often))
                    if self._over():
                        return

    def _improve(self) -> bool:
        """Take better neighbours until there is none; return whether that was cut short."""
        while self.best is not None and len(self.best.case.send) <= MAX_MOVED:
            before = self.best
            for back in swapped(before.case.back if self.allowed.returns_open else ()):
                self._size(replace(before.case, back=back))
            for send in self.allowed.neighbours(before.case.send):
                if self._over():
                    return True
                if self.best is not before:
                    break
                self._try(send)
            if self.best is before:
                return False
        return self._over()

    def _over(self) -> bool:
        return self.left <= 0 or self.control.expired()

    def _late(self) -> bool:
        latest = self.problem.latest if np.isinf(self.terms.end) else np.inf
        return self.best is not None and self.best.value * self.terms.second > latest

    def _try(self, send: Send) -> _SizedCase | None:
        """Size a sequence, with results in both directions where that is open."""
        if not self.allowed.keeps(send):
            return None
        places = self.terms.at_a_time
        place = tuple(chunk % places for chunk in range(len(send))) if places else ()
        best: _SizedCase | None = None
        for lifo in (False, True)[: 1 + self.allowed.returns_open]:
            back = tuple(self.allowed.returned(send, lifo))
            found = self._size(_SequenceCase(send=send, back=back, place=place))
            if found is not None and (best is None or found.value < best.value):
                best = found
        if best is not None and self.problem.loads is None:
            kept = self._kept(best.plan)
            if not kept.all():
                return self._try(tuple(compress(send, kept))) or best
        return best

    def _size(self, case: _SequenceCase, *, whole: bool = False) -> _SizedCase | None:
        """Return the best plan of a case and remember the best of all; None where there is none,
        or where the case was known.
        """
        if self._over() or (case in self.tried and not whole):
            return None
        self.tried.add(case)
        exactly = self.problem.integral and (len(case.send) <= MAX_WHOLE or whole)
        terms = replace(self.terms, whole=exactly)
        transfers = sends_then_returns(len(case.send), case.back)
        sequence = TransferSequence(
            worker=case.send, transfers=tuple(transfers.tolist()), place=case.place
        )
        best: _SizedCase | None = None
        for own, behind in product(terms.own_choices(), self._receptions(sequence)):
            self.left -= 1
            built = TransferProgramme(terms, sequence, own=own, behind=behind)
            answer = built.programme.solve(self.control)
            self.verdicts.add(answer.verdict)
            if answer.found and (best is None or answer.value < best.value):
                plan = built.plan(answer, self.problem.load)
                best = _SizedCase(case=case, answer=answer, plan=plan, behind=behind)
        if best is not None and (
            self.best is None or best.value < self.best.value - SAME * abs(self.best.value)
        ):
            self.best = best
        return best

    def _receptions(self, sequence: TransferSequence) -> list[Behind]:
        """Return when chunks are computed by workers without a front end: all ways, where few."""
        if self.problem.front_end:
            return [()]
        receptions = Receptions(sequence)
        return list(receptions.all()) if receptions.are_few(MAX_WAYS) else [at_once(sequence)]

    def _solution(self, found: _SizedCase, stopped: bool, proved: bool) -> Solution:
        problem = self.problem
        if problem.integral and len(found.case.send) > MAX_WHOLE:
            self.left = max(self.left, 1)
            again = self._size(found.case, whole=True)
            if again is None:
                return Solution(schedule=None, stopped=True)
            found, proved = again, False
        kept = self._kept(found.plan)
        plan, behind = found.plan.keeping(kept), found.behind if kept.all() else ()
        return solution_of_answer(
            problem, plan, behind, found.answer, self.terms, complete=proved, stopped=stopped
        )

    def _kept(self, plan: Plan) -> NDArray[np.bool_]:
        """Return which chunks have to be sent: those of something, and of workers that need one."""
        kept: NDArray[np.bool_] = plan.amount > EMPTY * plan.total
        if self.allowed.entries is not None:
            kept = kept | ~np.array(self.allowed.may_miss, dtype=bool)[plan.worker]
        for worker in self.allowed.needed:
            mine = np.flatnonzero(plan.worker == worker)
            if len(mine) and not kept[mine].any():
                kept[mine[0]] = True
        return kept
