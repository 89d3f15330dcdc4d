"""Sequences of sends of several sources: the best amounts for each, and ways to change them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from makespan.backends.answer import Verdict
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.plan import sends_by_start
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.programme import ChunksProgramme
from makespan.divisible.sources.scaled import Scaled

Link = tuple[int, int]
BETTER = 1e-9  # relative: by less, two plans are as good as each other


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sized:
    """A sequence of links with the best amounts.

    ``value`` is less for better ones: the end of the plan, or minus the load by the deadline.
    """

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
        self.best: Sized | None = None
        self._tried: set[tuple[tuple[Link, ...], tuple[bool, ...]]] = set()

    @property
    def plan(self) -> Schedule | None:
        """The plan of the best sequence."""
        return None if self.best is None else self.best.schedule

    def tried(self, links: list[Link], computes: NDArray[np.bool_]) -> bool:
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
                plan = built.plan(answer)
                self.best = Sized(links=key[0], computes=key[1], value=answer.value, schedule=plan)
                better = True
            if len(made) == len(links) and bool((used == computes).all()):
                return better
            links, computes = [links[place] for place in sorted(made.tolist())], used

    def tried_plan(self, schedule: Schedule) -> None:
        """Size the sequence of a plan."""
        self.tried(*sequence_of(schedule, len(self.scaled.begin)))

    def _beats(self, value: float) -> bool:
        known = self.best
        return known is None or value < known.value - BETTER * max(1.0, abs(known.value))

    def improve(self) -> bool:
        """Change the best sequence while that helps; say whether nothing is left to try."""
        while self.best is not None:
            found = False
            for links, computes in self._changed(self.best):
                if self.control.expired():
                    return False
                if self.tried(links, computes):
                    found = True
                    break
            if not found:
                return True
        return True

    def _changed(self, known: Sized) -> Iterator[tuple[list[Link], NDArray[np.bool_]]]:
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
        free = np.where(left.any(axis=1), sends, np.inf)
        source = int(np.argmin(free))
        mine = np.flatnonzero(left[source])
        begin = np.maximum(sends[source], receives[mine])
        worker = int(mine[np.lexsort((key[source, mine], begin))[0]])
        left[source, worker] = False
        line.append((source, worker))
        ended = max(sends[source], receives[worker]) + seconds[source, worker]
        sends[source] = receives[worker] = ended
    return line
