"""The programme of the chunks of several sources: how large they are, and who comes before whom.

Chunk k is sent from source s to worker j at t[k], and has been computed at d[k]:

    t[k'] >= t[k] + L u[k] + c a[k]           where k' is sent, or received, behind k
    d[k] >= t[k] + (L + W_j) u[k] + (c + w_j) a[k],   d[k'] >= d[k] + W_j u[k'] + w_j a[k'].

In a given order each chunk is made, and stands in a row with the next one of each port and worker:
a linear programme. Without one, u says which chunks are made, and a choice for each pair which of
both comes first. A worker computes chunks in the order in which they are sent.

Source: the linear programme of Wong, Yu, Veeravalli and Robertazzi 2003 for given orders, with the
latencies and the choices of Benoit 2016.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from makespan.backends.answer import SLACK, Answer, Verdict
from makespan.backends.highs import Programme, beside
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import sends_by_start
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.sums import Scaled, over
from makespan.divisible.timing import timed_sources

TINY = 1e-12  # of the load: chunks that hold no more are none


class ChunksProgramme:
    """The programme of some chunks, given the ``source`` and the ``worker`` of each.

    The numbers of ``scaled`` are in seconds of the end of a known plan where an order is chosen.
    ``computes``: which sources may compute; in a given order, do. ``chooses``: the order of the
    chunks, and which are made, is to be found; else it is given.
    """

    def __init__(
        self,
        scaled: Scaled,
        source: Integers,
        worker: Integers,
        computes: NDArray[np.bool_],
        *,
        chooses: bool = False,
    ) -> None:
        self.scaled, self.chooses = scaled, chooses
        self.source, self.worker = source, worker
        self.programme = programme = Programme()
        is_open = scaled.load is None
        weight = -1.0 if is_open else 0.0
        self._latest = float(min(scaled.end, 1.0 + SLACK)) if chooses else scaled.end
        count, shares = len(source), scaled.shares
        self._cap: Floats = np.minimum(scaled.memory[worker], shares[source])
        begin: Floats = scaled.begin[source]
        able: Floats = np.ones(count, dtype=np.float64)
        if chooses:
            left = self._left()
            begin = np.minimum(begin, self._latest)
            able = np.asarray(left >= 0, dtype=np.float64)
            per_unit = scaled.send[source, worker] + scaled.compute[worker]
            self._cap = np.minimum(self._cap, over(left, per_unit))
        self._used = programme.variables(
            count, lower=0.0 if chooses else 1.0, upper=able, integer=chooses
        )
        self._amount = programme.variables(count, cost=weight, upper=self._cap)
        self._start = programme.variables(count, lower=begin, upper=self._latest)
        limit = np.minimum(scaled.deadline[worker], self._latest)
        self._done = programme.variables(count, upper=limit)
        self._own = programme.variables(
            len(shares), cost=weight, upper=np.where(computes, shares, 0.0)
        )
        lower = scaled.end if is_open else 0.0
        cost = 0.0 if is_open else 1.0
        self._end = int(programme.variables(1, cost=cost, lower=lower, upper=self._latest)[0])
        scaled.place_all(programme, source, self._amount, self._own)
        if chooses:
            programme.rows(beside(self._amount, self._used), beside(1.0, -self._cap), high=0.0)
        self._computations()
        self._sources(computes)
        if chooses:
            self._either_way()
        else:
            self._in_turn()

    @property
    def is_bounded(self) -> bool:
        """Whether there is a most that each chunk may hold, which choices need."""
        return bool(np.isfinite(self._cap).all())

    def _left(self) -> Floats:
        """Return the time that each chunk has beside its fixed costs if it is the only one."""
        scaled, worker = self.scaled, self.worker
        end = np.minimum(self._latest, scaled.deadline[worker])
        fixed = scaled.send_fixed[self.source, worker] + scaled.compute_fixed[worker]
        return np.asarray(end - scaled.begin[self.source] - fixed)

    def _computations(self) -> None:
        """Each chunk is computed after it has come, in its worker's time, and by the end."""
        scaled, rows, worker = self.scaled, self.programme.rows, self.worker
        fixed, per_unit = scaled.compute_fixed[worker], scaled.compute[worker]
        sent = scaled.send_fixed[self.source, worker], scaled.send[self.source, worker]
        late = float(self._latest) if self.chooses else 0.0  # of chunks that are not made
        rows(
            beside(self._done, self._start, self._amount, self._used),
            beside(1.0, -1.0, -sent[1] - per_unit, -sent[0] - fixed - late),
            low=-late,
        )
        rows(
            beside(self._done, self._amount, self._used),
            beside(1.0, -per_unit, -fixed - scaled.release[worker]),
            low=0.0,
        )
        rows(beside(self._end, self._done), [1.0, -1.0], low=0.0)

    def _sources(self, computes: NDArray[np.bool_]) -> None:
        """What a source computes itself takes it from its release on."""
        scaled = self.scaled
        able = np.flatnonzero(computes)
        begin, share = scaled.begin[able] + scaled.own_fixed[able], scaled.shares[able]
        if self.chooses:
            share = np.minimum(share, over(self._latest - begin, scaled.own[able]))
        used = self.programme.variables(
            len(able), lower=0.0 if self.chooses else 1.0, upper=1.0, integer=self.chooses
        )
        table = beside(self._own[able], used, self._end)
        self.programme.rows(table, beside(scaled.own[able], begin, -1.0), high=0.0)
        if self.chooses:
            self.programme.rows(table[:, :2], beside(1.0, -share), high=0.0)

    def _in_turn(self) -> None:
        """Chunks of a port, or of a worker, come one after another, in the order given."""
        if self.scaled.one_port:
            self._follow(*_successive(self.source))
            self._follow(*_successive(self.worker))
        else:
            self._follow(*_successive(self.source * self.scaled.linked.shape[1] + self.worker))
        self._follow(*_successive(self.worker), computes=True)

    def _either_way(self) -> None:
        """The same where each two of a port or worker may come in either order.

        Chunks of the same link come in their order.
        """
        sent, computed = [], []
        for first, second in combinations(range(len(self.source)), 2):
            same = self.worker[first] == self.worker[second]
            port = self.source[first] == self.source[second]
            if not same and not (port and self.scaled.one_port):
                continue
            choice = -1
            if not (same and port):
                choice = int(self.programme.variables(1, upper=1.0, integer=True)[0])
            pair = (first, second, choice)
            if self.scaled.one_port or choice < 0:
                sent.append(pair)
            if same:
                computed.append(pair)
        for pairs, computes in ((sent, False), (computed, True)):
            one, other, choices = np.array(pairs, dtype=np.int64).reshape(-1, 3).T
            self._follow(one, other, choices, computes=computes)
            either = choices >= 0
            back = other[either], one[either], choices[either]
            self._follow(*back, computes=computes, reverse=True)

    def _follow(
        self,
        first: Integers,
        second: Integers,
        choice: ArrayLike = -1,
        *,
        computes: bool = False,
        reverse: bool = False,
    ) -> None:
        """One chunk is sent, or computed, behind another where a choice is 1; ``reverse``: 0."""
        scaled, far = self.scaled, self._latest if np.isfinite(self._latest) else 0.0
        time, lasting = (self._done, second) if computes else (self._start, first)
        link: Any = self.source[lasting], self.worker[lasting]
        fixed, per_unit = scaled.send_fixed, scaled.send
        if computes:
            link, fixed, per_unit = link[1], scaled.compute_fixed, scaled.compute
        table = beside(
            time[second], time[first], self._amount[lasting], self._used[lasting], choice
        )
        low = np.where((table[:, -1] >= 0) & (not reverse), -far, 0.0)
        factors = beside(1.0, -1.0, -per_unit[link], -fixed[link], far if reverse else -far)
        self.programme.rows(table, factors, low=low)

    def _made(self, answer: Answer) -> NDArray[np.bool_]:
        values = answer.values
        return np.asarray((values[self._amount] > TINY) & (values[self._used] > 0.5))

    def order(self, answer: Answer) -> Integers:
        """Return the chunks that are made, as they are sent or, on links of their own, computed."""
        made = np.flatnonzero(self._made(answer))
        begun, done = answer.values[self._start[made]], answer.values[self._done[made]]
        return made[np.lexsort((done, begun) if self.scaled.one_port else (begun, done))]

    def computing(self, answer: Answer) -> NDArray[np.bool_]:
        """Return which sources compute something themselves."""
        return answer.values[self._own] > TINY

    def plan(self, answer: Answer) -> Schedule:
        """Return the schedule of a solution; its amounts add up to the loads, where there are."""
        scaled, problem = self.scaled, self.scaled.problem
        amount, own = answer.values[self._amount], answer.values[self._own]
        made = self._made(answer)
        own = np.where(own > TINY, own, 0.0)
        source, worker, amount = self.source[made], self.worker[made], amount[made]
        used = np.bincount(source, amount, minlength=len(own)) + own
        wanted = scaled.held if scaled.held is not None else used
        if scaled.held is None and scaled.load:
            wanted = used * (scaled.load / used.sum())
        factor = np.divide(wanted, used, out=np.zeros(len(own)), where=used > 0) * scaled.unit
        return timed_sources(problem, source, worker, amount * factor[source], own * factor)


def _successive(group: Integers) -> tuple[Integers, Integers]:
    """Return the pairs of chunks of which the second is the next of its group.

    >>> [each.tolist() for each in _successive(np.array([4, 7, 4, 4]))]
    [[0, 2], [2, 3]]
    """
    order = np.argsort(group, kind="stable")
    same = group[order[1:]] == group[order[:-1]]
    return order[:-1][same], order[1:][same]


Link = tuple[int, int]
BETTER = 1e-9  # relative: by less, two plans are as good as each other


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SizedLinks:
    """A sequence of links with the best amounts; ``value`` is the end, or minus the load."""

    links: tuple[Link, ...]
    computes: tuple[bool, ...]
    value: float
    schedule: Schedule


class Sequences:
    """The sequences that were sized, and the best of them."""

    def __init__(self, problem: DivisibleLoad, control: Control) -> None:
        self.problem, self.control = problem, control
        self.scaled = Scaled(problem)
        self.most = np.inf if problem.rounds == "auto" else int(problem.rounds)
        self.links = list(
            zip(*(each.tolist() for each in np.nonzero(self.scaled.linked)), strict=True)
        )
        self.best: SizedLinks | None = None
        self._tried: set[tuple[tuple[Link, ...], tuple[bool, ...]]] = set()

    @property
    def plan(self) -> Schedule | None:
        """The plan of the best sequence."""
        return None if self.best is None else self.best.schedule

    def try_links(self, links: list[Link], computes: NDArray[np.bool_]) -> bool:
        """Size a sequence, without the chunks that then are empty; say whether it is the best."""
        better = False
        while True:
            key = tuple(links), tuple(computes.tolist())
            if key in self._tried:
                return better
            self._tried.add(key)
            source, worker = np.array(links, dtype=np.int64).reshape(-1, 2).T
            built = ChunksProgramme(self.scaled, source, worker, computes)
            answer = built.programme.solve(self.control)
            if answer.verdict is not Verdict.OPTIMAL:
                return better
            made, used = built.order(answer), built.computing(answer)
            if self._beats(answer.value):
                self.best = SizedLinks(
                    links=key[0], computes=key[1], value=answer.value, schedule=built.plan(answer)
                )
                better = True
            if len(made) == len(links) and bool((used == computes).all()):
                return better
            links, computes = [links[place] for place in sorted(made.tolist())], used

    def try_plan(self, schedule: Schedule) -> None:
        self.try_links(*sequence_of(schedule, len(self.scaled.begin)))

    def _beats(self, value: float) -> bool:
        known = self.best
        return known is None or value < known.value - BETTER * max(1.0, abs(known.value))

    def improve(self) -> bool:
        """Change the best sequence while that helps; say whether nothing is left to try."""
        while self.best is not None:
            for links, computes in self._changed(self.best):
                if self.control.expired():
                    return False
                if self.try_links(links, computes):
                    break
            else:
                return True
        return True

    def _changed(self, known: SizedLinks) -> Iterator[tuple[list[Link], NDArray[np.bool_]]]:
        """Yield sequences that differ by a chunk: elsewhere, over another link, more, less."""
        links, computes = list(known.links), np.array(known.computes)
        count = len(links)
        for place in range(count):
            yield links[:place] + links[place + 1 :], computes
        for place in range(count):
            rest = links[:place] + links[place + 1 :]
            for other in range(count):
                if other != place:
                    yield [*rest[:other], links[place], *rest[other:]], computes
        for link in self.links:
            if links.count(link) < self.most:
                for place in range(count + 1):
                    yield [*links[:place], link, *links[place:]], computes
            for place in range(count):
                if links[place] != link and links.count(link) < self.most:
                    yield [*links[:place], link, *links[place + 1 :]], computes
        for source in np.flatnonzero(self.scaled.able).tolist():
            flipped = computes.copy()
            flipped[source] = not flipped[source]
            yield links, flipped


def sequence_of(schedule: Schedule, sources: int) -> tuple[list[Link], NDArray[np.bool_]]:
    """Return the links of a plan's sends in their order, and which sources compute."""
    sends = sends_by_start(schedule)
    ends = schedule.machine[sends].tolist(), (schedule.peer[sends] - sources).tolist()
    own = schedule.machine[schedule.rows_of(Activity.COMPUTE)]
    return list(zip(*ends, strict=True)), np.isin(np.arange(sources), own)


def by_turns(flows: Floats, scaled: Scaled, key: Floats) -> list[Link]:
    """Return the links that carry something, in the order in which sends could begin.

    The source that could send first does, to who can receive first, and has the least ``key`` of
    these. Complexity: O(links * workers).
    """
    left = flows > 0
    seconds = scaled.send_fixed + np.where(left, scaled.send, 0.0) * flows / scaled.unit
    sends, receives = scaled.begin.copy(), np.zeros(flows.shape[1])
    line: list[Link] = []
    while left.any():
        source = int(np.argmin(np.where(left.any(axis=1), sends, np.inf)))
        mine = np.flatnonzero(left[source])
        begin = np.maximum(sends[source], receives[mine])
        worker = int(mine[np.lexsort((key[source, mine], begin))[0]])
        left[source, worker] = False
        line.append((source, worker))
        ended = max(sends[source], receives[worker]) + seconds[source, worker]
        sends[source] = receives[worker] = ended
    return line
