"""The model of an all-reduce for CP-SAT: parts to some machine, and copies from there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from makespan.core.schedule import Schedule
from makespan.reduction.bounding import distances
from makespan.reduction.bounding.one_segment import one_segment
from makespan.reduction.exact import Model, Part
from makespan.reduction.sends import Sends, costs_of, sends_of, shared_links, tables_of
from makespan.reduction.timing import in_order

if TYPE_CHECKING:
    from makespan.backends.cp_sat import Settings


class AllreduceModel(Model):
    """Every machine but one, the home, gives its part of a segment away; all but it get a copy.

    ``given[way, i, k, j]`` says that i sends its part of segment k to j (way 0), or gets its copy
    from j (way 1); ``start[way, i, k]`` is when that is sent, ``combined`` when the part is.
    ``ready`` is when i has all parts that it gets, and ``held`` when it has the whole.
    """

    first = 0
    settings: ClassVar[Settings] = {  # a linear relaxation says little, and costs half of the time
        "linearization_level": 0, "cp_model_probing_level": 0, "subsolvers": ("no_lp",)
    }  # fmt: skip

    def _variables(self, least: int) -> Any:
        problem, model = self.problem, self.model
        self.tables = tables_of(problem).over(self.machines)
        self.transfer, self.latency, self.reduce, self.size, _ = self.tables
        self.keys = [(i, k) for k in range(self.segments) for i in range(self.machines)]
        times = {
            name: {key: model.new_int_var(0, self.most, f"{name}{key}") for key in self.keys}
            for name in ("sent", "gets", "combined", "ready", "held")
        }
        self.start = times["sent"], times["gets"]
        self.combined, self.ready, self.held = (
            times[name] for name in ("combined", "ready", "held")
        )
        self.home = {key: model.new_bool_var(f"home{key}") for key in self.keys}
        self.given = {
            (way, i, k, j): model.new_bool_var(f"given{way},{i},{k},{j}")
            for i, k in self.keys
            for j in range(self.machines)
            for way, pair in enumerate([(i, j), (j, i)])
            if i != j and self.transfer[pair] >= 0
        }
        end = model.new_int_var(least, self.most, "end")
        for k in range(self.segments):
            model.add_exactly_one(self.home[i, k] for i in range(self.machines))
        for i, k in self.keys:
            for way in (0, 1):
                others = (self.given.get((way, i, k, j)) for j in range(self.machines))
                model.add_exactly_one(
                    [self.home[i, k], *(one for one in others if one is not None)]
                )
            model.add(self.held[i, k] == self.ready[i, k]).only_enforce_if(self.home[i, k])
            model.add(self.start[0][i, k] >= self.ready[i, k])
            model.add(end >= self.held[i, k])
        if not self._alike:
            self._homes(end)
        return end

    def _homes(self, end: Any) -> None:
        """Add when each segment is complete: no sooner than one alone is, and all need the rest.

        Segments of one size are interchangeable: they are numbered by when they are complete.
        """
        model, problem, every = self.model, self.problem, range(self.machines)
        before: dict[float, Any] = {}
        for k, size in enumerate(problem.sizes.tolist()):
            there, back = (
                one_segment(problem, size, back=way, quick=False) for way in (True, False)
            )
            parts, copies = (
                distances(problem, size, back=False, combining=way) for way in (True, False)
            )
            complete = model.new_int_var(0, self.most, f"complete{k}")
            model.add(complete >= self._at_home(k, there))
            model.add(end >= complete + self._at_home(k, back))
            for i in every:
                home = self.home[i, k]
                model.add(complete == self.ready[i, k]).only_enforce_if(home)
                model.add(complete >= self.ready[i, k] + self._at_home(k, parts[i]))
                model.add(self.held[i, k] >= complete + self._at_home(k, copies[:, i]))
            if size in before:
                model.add(before[size] <= complete)
            before[size] = complete

    def _at_home(self, k: int, seconds: Any) -> Any:
        """Return what of a column holds at the home of a segment, in whole units, rounded up."""
        least = np.ceil(np.asarray(seconds) / self.unit - 1e-6)
        least = np.minimum(least, self.most + 1).astype(int).tolist()
        return sum(value * self.home[i, k] for i, value in enumerate(least) if value)

    def schedule(self, value: Any) -> Schedule:
        """Return the plan of a solution, of which ``value`` gives the variables."""
        chosen = [key for key, chosen in self.given.items() if value(chosen)]
        way, one, segment, other = np.array(chosen, dtype=np.int64).T
        final = way == 1
        sends = Sends(
            sender=np.where(final, other, one), receiver=np.where(final, one, other),
            segment=segment, final=final,
        )  # fmt: skip
        start, ready = np.array(
            [
                (value(self.start[w][i, k]), value(self.held[j, k] if w else self.ready[i, k]))
                for w, i, k, j in chosen
            ],
            dtype=np.int64,
        ).T
        costs = costs_of(self.problem, sends)
        lasts = np.asarray(costs.transfer)
        combined = np.array([0 if w else value(self.combined[i, k]) for w, i, k, _ in chosen])
        order = np.lexsort((ready, lasts, start))
        takes = np.lexsort((combined, lasts, start + costs.latency))
        place = np.argsort(order)
        entering = (start[:, None] + costs.ahead)[order]
        schedule = in_order(self.problem, sends.take(order), place[takes], entering)
        return self.incumbent if schedule is None else schedule

    @property
    def _alike(self) -> bool:
        return self.problem.times is not None

    def _ports(self) -> Iterable[list[Part]]:
        """Ports and units take one at a time; return the parts that may arrive at each machine."""
        model, table = self.model, self.problem.ports
        links: dict[int, list[Any]] = defaultdict(list)
        shared, before = shared_links(self.problem, self.tables)
        sending: dict[int, list[Any]] = defaultdict(list)
        taking: dict[int, list[Any]] = defaultdict(list)
        working: dict[int, list[Any]] = defaultdict(list)
        parts: dict[int, list[Part]] = defaultdict(list)
        for (way, i, k, j), chosen in self.given.items():
            self._look()
            sender, receiver = pair = (j, i) if way else (i, j)
            leaves, enters = pair
            if table is not None:
                leaves, enters = int(table.sending[pair]), int(table.receiving[pair])
            lasts = int(self.transfer[sender, receiver] * self.size[k])
            lag = int(self.latency[sender, receiver])
            start = self.start[way][i, k]
            holds = [(sending, start, leaves), (taking, start + lag, enters)]
            for link, ahead in zip(shared[pair].tolist(), before[pair].tolist(), strict=True):
                holds += [(links, start + ahead, link)] * (link >= 0)
            for ports, at, port in holds:
                self._hold(ports, port, at, lasts, chosen)
            if way:
                model.add(start >= self.held[j, k]).only_enforce_if(chosen)
                model.add(self.held[i, k] == start + lag + lasts).only_enforce_if(chosen)
                continue
            work, done = int(self.reduce[j] * self.size[k]), self.combined[i, k]
            model.add(done >= start + lag + lasts + work).only_enforce_if(chosen)
            model.add(self.ready[j, k] >= done).only_enforce_if(chosen)
            self._hold(working, enters, done - work, work, chosen)
            at = start + lag, done
            parts[enters].append(Part(chosen, begins=at, ends=at))
        for each in (sending, taking, working, links):
            self._one_at_a_time(each.values())
        return parts.values()

    def _by_completion(self, sends: Sends, done: Any) -> list[int]:
        """Return the number that each segment has where those of one size are in order.

        They are in the order in which they are complete, when the last part is combined.
        """
        sizes, parts = self.problem.sizes, ~sends.final
        complete = np.zeros(len(sizes))
        np.maximum.at(complete, sends.segment[parts], done[parts])
        numbers = np.arange(len(sizes))
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            numbers[alike[np.argsort(complete[alike], kind="stable")]] = alike
        return numbers.tolist()

    def _hint(self, end: Any) -> None:
        sends, rows = sends_of(self.problem, self.incumbent)
        start = np.rint(self.incumbent.start[rows] / self.unit).astype(int)
        costs = costs_of(self.problem, sends)
        done = start + costs.latency + costs.transfer + costs.reduce
        held = {
            (int(i), int(k)): int(at)
            for i, k, at, final in zip(
                sends.receiver, sends.segment, done, sends.final,
                strict=True,
            )
            if final
        }  # fmt: skip
        names, items = list(range(self.machines)), self._by_completion(sends, done)
        if self._alike and held:
            # the home of the segment that is complete first has the first of all
            first = min(held, key=lambda key: (held[key], key))[1]
            by_time = sorted(names, key=lambda i: held.get((i, first), -1))
            last = sorted(items, key=lambda k: (k != first, held.get((by_time[0], k), -1)))
            names, items = (np.argsort(each).tolist() for each in (by_time, last))
        self.model.add_hint(end, self.most)
        columns = sends.sender, sends.receiver, sends.segment, sends.final, start
        for sender, receiver, segment, final, at in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            pair = (receiver, sender) if final else (sender, receiver)
            i, j, k = (*(names[each] for each in pair), items[segment])
            self.model.add_hint(self.start[final][i, k], at)
            for other in range(self.machines):
                if (int(final), i, k, other) in self.given:
                    self.model.add_hint(self.given[int(final), i, k, other], int(other == j))
