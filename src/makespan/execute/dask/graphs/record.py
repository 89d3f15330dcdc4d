"""What the workers saw of a run, as a schedule with the numbers of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from makespan.core.schedule import Activity, Schedule
from makespan.execute.dask.graphs.remote import Seen
from makespan.taskgraph.model.dag import Dag

Row = tuple[str, int, int, int, float, float, float]


class Sightings:
    """What was seen, by worker.

    Parameters
    ----------
    number
        The number of each task, by the key that was sent.
    names
        The name of each worker by its address, also of those that are gone.
    """

    def __init__(self, number: Mapping[str, int], names: Mapping[str, str]) -> None:
        self.number, self.names = number, names
        self.found: dict[str, Seen] = {}

    def schedule(
        self, dag: Dag, machines: Sequence[str] = (), plan: Schedule | None = None
    ) -> Schedule:
        """Return what was measured; time 0 is the start of the first task.

        Machines come in that order, others behind; transfers pass the hops that were planned.
        """
        machines = [*machines, *(name for name in self.found if name not in machines)]
        place = {name: index for index, name in enumerate(machines)}
        rows = self._computed(dag, place)
        hops = {} if plan is None else _hops(plan)
        rows += self._sent(dag, hops, place, {row[3]: row[1] for row in rows})
        zero = min((row[5] for row in rows), default=0.0)
        shifted = [(*row[:5], row[5] - zero, row[6] - zero) for row in rows]
        shifted.sort(key=lambda row: (row[5], row[6]))
        return Schedule.of_rows(tuple(machines), shifted)

    def _computed(self, dag: Dag, place: Mapping[str, int]) -> list[Row]:
        """Return the last computation of each task."""
        last: dict[int, Row] = {}
        for worker, seen in self.found.items():
            for key, (start, end) in seen.computed.items():
                task = self.number[key]
                row = ("compute", place[worker], -1, task, float(dag.work[task]))
                if task not in last or last[task][6] < end:
                    last[task] = (*row, start, end)
        return list(last.values())

    def _sent(
        self,
        dag: Dag,
        hops: Mapping[tuple[int, int, int], list[tuple[int, int, float]]],
        place: Mapping[str, int],
        machine_of: Mapping[int, int],
    ) -> list[Row]:
        """Return the transfers, hop by hop as planned where they were planned."""
        edge_of = _edges(dag, machine_of, {edge for edge, *_ in hops})
        rows: list[Row] = []
        for worker, seen in self.found.items():
            for key, address, start, end in seen.sent:
                receiver = self.names.get(address, "")
                if receiver not in place:
                    continue
                sender, goal = place[worker], place[receiver]
                edge = edge_of.get((self.number[key], goal))
                if edge is None:
                    continue
                size = float(dag.size[edge])
                way = hops.get((edge, sender, goal), [(sender, goal, 1.0)])
                total = sum(share for *_, share in way) or 1.0
                passed = 0.0
                for tail, head, share in way:
                    times = [start + (end - start) * p / total for p in (passed, passed + share)]
                    rows.append(("transfer", tail, head, edge, size, times[0], times[1]))
                    passed += share
        return rows


def _hops(plan: Schedule) -> dict[tuple[int, int, int], list[tuple[int, int, float]]]:
    """Return the planned hops (tail, head, seconds) by edge and by the ends of its route."""
    by_edge: dict[int, list[tuple[int, int, float]]] = {}
    rows = np.flatnonzero(plan.kind == Activity.TRANSFER)
    for row in rows[np.lexsort((plan.end[rows], plan.start[rows]))].tolist():
        seconds = float(plan.end[row] - plan.start[row])
        hop = (int(plan.machine[row]), int(plan.peer[row]), seconds)
        by_edge.setdefault(int(plan.item[row]), []).append(hop)
    return {(edge, hops[0][0], hops[-1][1]): hops for edge, hops in by_edge.items()}


def _edges(
    dag: Dag, machine_of: Mapping[int, int], planned: set[int]
) -> dict[tuple[int, int], int]:
    """Return the edge that stands for a result's way to a machine; planned ones first."""
    found: dict[tuple[int, int], int] = {}
    count = len(dag.source)
    for edge in sorted(range(count), key=lambda each: (each not in planned, each)):
        source, target = int(dag.source[edge]), int(dag.target[edge])
        if target in machine_of:
            found.setdefault((source, machine_of[target]), edge)
    return found
