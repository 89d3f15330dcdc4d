"""The model of copies, or of combinations in reversed time, for CP-SAT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from makespan.core.schedule import Schedule
from makespan.reduction.exact import Model, Part
from makespan.reduction.heuristics.symmetry import (
    broadcast_of,
    links_of_copies,
    ports_of_copies,
    sends_of_copies,
)
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import costs_of, sends_of
from makespan.reduction.timing import kept_to

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import IntVar


class BroadcastModel(Model):
    """The model of a broadcast, reversed or not: every machine but the root gets every segment.

    ``given[i, k, j]`` says that j gives segment k to i; ``begun`` is when j begins to prepare that
    copy, ``started`` when it starts and ``held`` when i has it. ``turns`` says in which order a
    machine takes its segments, where that is given.
    """

    first = 1

    def _variables(self, least: int) -> Any:
        problem, model = self.problem, self.model
        tables = broadcast_of(problem).over(self.machines)
        self.transfer, self.latency, self.prepare, self.size, _ = tables
        self.shared, self.ahead, self.links = links_of_copies(problem, tables)
        end = model.new_int_var(least, self.most, "end")
        holds, lacks = problem.statement.copied
        self.holds = holds
        others = lacks if problem.statement.combining else ~holds  # who may forward a copy
        copies = [(int(i), int(k)) for i, k in np.argwhere(others)]
        self.held, self.started = (
            {key: model.new_int_var(0, self.most, f"{name}{key}") for key in copies}
            for name in ("held", "started")
        )
        self.given = {
            (i, k, j): model.new_bool_var(f"given{i},{k},{j}")
            for i, k in copies
            for j in range(self.machines)
            if j != i and (holds[j, k] or others[j, k]) and self._possible(i, k, j)
        }
        self.begun: dict[tuple[int, int, int], Any] = {}
        self.turns: dict[tuple[int, int], int] = {}
        for (i, k), when in self.held.items():
            self._look()
            givers = [self.given[i, k, j] for j in range(self.machines) if (i, k, j) in self.given]
            if lacks[i, k]:
                model.add_exactly_one(givers)
            else:
                model.add_at_most_one(givers)
                for j in range(self.machines):
                    if (j, k, i) in self.given:
                        model.add_bool_or(givers).only_enforce_if(self.given[j, k, i])
            model.add(when <= end)
        return end

    def schedule(self, value: Any) -> Schedule:
        """Return the plan of a solution, of which ``value`` gives the variables."""
        chosen = [key for key, chosen in self.given.items() if value(chosen)]
        taker, segment, giver = np.array(chosen, dtype=np.int64).T
        start, held, begun, turn = np.array(
            [
                (
                    value(self.started[i, k]),
                    value(self.held[i, k]),
                    value(self.begun[i, k, j]),
                    self.turns.get((i, k), 0),
                )
                for i, k, j in chosen
            ],
            dtype=np.int64,
        ).T
        forward = not self.problem.statement.combining
        sends = sends_of_copies(self.problem, np.column_stack([giver, taker, segment]))
        # what takes no time is before what begins at the same moment
        costs = costs_of(self.problem, sends)
        lasts = costs.transfer
        begins = start if forward else -held
        gives = np.lexsort((begun, lasts, start))
        takes = np.lexsort((turn, lasts, held - lasts))
        order, arrivals = (gives, takes) if forward else (takes[::-1], gives[::-1])
        entering = (begins[:, None] + costs.ahead)[order]
        return kept_to(self.problem, sends.take(order), np.argsort(order)[arrivals], entering)

    def _possible(self, taker: int, segment: int, giver: int) -> bool:
        """Whether a given plan allows the copy, in the direction of the problem."""
        if self.transfer[giver, taker] < 0:
            return False
        if self.problem.destinations is not None:
            return self.problem.destinations[taker][segment] == giver + 1
        if self.problem.sequences is not None:
            return (segment + 1, giver + 1) in self.problem.sequences[taker]
        return True

    def _ports(self) -> Iterable[list[Part]]:
        """Ports and units take one at a time; return the copies that each unit prepares."""
        model = self.model
        sending: dict[int, list[Any]] = defaultdict(list)
        taking: dict[int, list[Any]] = defaultdict(list)
        preparing: dict[int, list[Any]] = defaultdict(list)
        copies: dict[int, list[Part]] = defaultdict(list)
        exits, entries, _, _ = ports_of_copies(self.problem)
        links: list[list[Any]] = [[] for _ in range(self.links)]
        queues = [self._queues(giver) for giver in range(self.machines)]
        at_once: list[tuple[int, int, int]] = []
        for (i, k, j), chosen in self.given.items():
            self._look()
            lasts = int(self.transfer[j, i] * self.size[k])
            work = int(self.prepare[j] * self.size[k])
            start, held = self.started[i, k], self.held[i, k]
            way_out, way_in = (j, i) if exits is None else (int(exits[j, i]), int(entries[j, i]))
            model.add(held == start + int(self.latency[j, i]) + lasts).only_enforce_if(chosen)
            self._hold(sending, way_out, start, lasts, chosen)
            taking[way_in].append(
                model.new_optional_interval_var(held - lasts, lasts, held, chosen, "")
            )
            for place in range(self.shared.shape[2] if self.links else 0):
                link, enters = int(self.shared[j, i, place]), start + int(self.ahead[j, i, place])
                if link >= 0:
                    self._hold(links, link, enters, lasts, chosen)
            begin: Any = start - work
            if queues[j]:
                begin = model.new_int_var(0, self.most, "")
                model.add(begin + work <= start).only_enforce_if(chosen)
                self._hold(preparing, way_out, begin, work, chosen)
                ends = start + lasts, begin + work
                copies[way_out].append(Part(chosen, begins=(start, begin), ends=ends))
            self.begun[i, k, j] = begin
            source = bool(self.holds[j, k])
            model.add(begin >= (0 if source else self.held[j, k])).only_enforce_if(chosen)
            if not source and int(self.latency[j, i]) + lasts + work == 0:
                at_once.append((i, k, j))
        for each in (sending.values(), taking.values(), preparing.values(), links):
            self._one_at_a_time(each)
        self._no_circles(at_once)
        if self.problem.sequences is not None:
            self._given_sequences()
        return copies.values()

    def _no_circles(self, at_once: list[tuple[int, int, int]]) -> None:
        """Copies that take no time need a rank: times alone let machines give in a circle."""
        rank = {
            key: self.model.new_int_var(1, self.machines, "")
            for key in {pair for i, k, j in at_once for pair in ((i, k), (j, k))}
        }
        for i, k, j in at_once:
            self._look()
            self.model.add(rank[i, k] > rank[j, k]).only_enforce_if(self.given[i, k, j])

    def _queues(self, giver: int) -> bool:
        """Whether copies can wait for the unit of a giver: it may be slower than its port."""
        apart = (np.arange(self.machines) != giver) & (self.transfer[giver] >= 0)
        least = self.transfer[giver][apart].min(initial=self.most) * self.size.min()
        return bool(self.prepare[giver] * self.size.max() > least)

    def _given_sequences(self) -> None:
        """In reversed time, a machine takes its segments in the reverse of its sends."""
        assert self.problem.sequences is not None
        for i, row in enumerate(self.problem.sequences):
            for turn, (segment, _) in enumerate(reversed(row)):
                self.turns[i, segment - 1] = turn
            for (later, giver), (sooner, _) in pairwise(row):
                lasts = int(self.transfer[giver - 1, i] * self.size[later - 1])
                self.model.add(self.held[i, sooner - 1] <= self.held[i, later - 1] - lasts)

    @property
    def _alike(self) -> bool:
        problem = self.problem
        return (
            problem.collective in ("reduce", "broadcast")
            and problem.times is not None
            and problem.destinations is None
            and problem.sequences is None
        )

    def _hint(self, end: IntVar) -> None:
        sends, rows = _rows(self.problem, self.incumbent)
        begin = {}
        for giver, taker, segment, start, arrival in zip(
            *(column.tolist() for column in (*sends, *rows)), strict=True
        ):
            begin[taker, segment] = (giver, round(start / self.unit), round(arrival / self.unit))
        names, items = self._renaming(begin)
        self.model.add_hint(end, self.most)
        for (taker, segment), (giver, start, arrival) in begin.items():
            key = (names[taker], items[segment])
            self.model.add_hint(self.started[key], start)
            self.model.add_hint(self.held[key], arrival)
            for other in range(self.machines):
                if (*key, other) in self.given:
                    self.model.add_hint(self.given[(*key, other)], int(other == names[giver]))

    def _renaming(self, begin: dict[Any, Any]) -> tuple[list[int], list[int]]:
        """Return the names under which the incumbent keeps to the order of ``_symmetry``."""
        names, items = list(range(self.machines)), list(range(self.segments))
        if not self._alike:
            return names, items
        # machine 1 gets segment 0 first of all: the first arrival of all is that copy
        machine, segment = min(begin, key=lambda key: (begin[key][2], key))
        by_time = sorted(range(1, self.machines), key=lambda i: (begin[i, segment][2], i))
        assert by_time[0] == machine
        for place, old in enumerate(by_time, start=1):
            names[old] = place
        order = sorted(range(self.segments), key=lambda k: (begin[machine, k][2], k != segment, k))
        for place, old in enumerate(order):
            items[old] = place
        return names, items


def _rows(problem: Reduction, schedule: Schedule) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return giver, taker and segment of every copy, and its start and arrival in its own time."""
    sends, rows = sends_of(problem, schedule)
    arrival = schedule.end[rows] + problem.latencies[sends.sender, sends.receiver]
    if not problem.statement.combining:
        return (sends.sender, sends.receiver, sends.segment), (schedule.start[rows], arrival)
    end = schedule.makespan
    return (sends.receiver, sends.sender, sends.segment), (
        end - arrival,
        end - schedule.start[rows],
    )
