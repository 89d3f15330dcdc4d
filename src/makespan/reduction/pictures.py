"""What a picture of a reduction shows: three lanes a machine, segments as labels."""

from collections.abc import Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Bars, Diagram, Edges, Groups, Nodes, OnDemand, Picture, Role, Row
from makespan.core.schedule import Activity, Schedule
from makespan.drawing.diagram.network import MOST_SHOWN, network_diagram
from makespan.drawing.text import short
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.sends import reductions_of

LANES = ("reduce", "receive", "send")
REDUCE, RECEIVE, SEND = range(3)


def picture(problem: Reduction, schedule: Schedule) -> Picture:
    """Return three lanes per machine: reduction, reception, emission.

    So the array reduction notebook draws them. The label of a bar is the name of its segment; where
    there is room, with the other machine: ``S3→M1`` where it is sent, ``S3←M2`` where it arrives.
    A reception is the send's time shifted by the latency, but in what was measured
    it ends when the combination begins.
    """
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    combined = schedule.rows_of(Activity.REDUCE)
    combined = combined[schedule.end[combined] > schedule.start[combined]]
    machine, peer = schedule.machine, schedule.peer
    matched = reductions_of(schedule, sends)
    slack = np.where(matched == sends, np.inf, schedule.start[matched] - schedule.end[sends])
    shift = np.minimum(problem.latencies[machine[sends], peer[sends]], np.maximum(slack, 0.0))
    received = Bars.of(schedule, sends, row=peer[sends], lane=RECEIVE, role=Role.RECEIVE)
    received = replace(received, start=received.start + shift, end=received.end + shift)
    bars = [
        Bars.of(schedule, combined, row=machine[combined], lane=REDUCE, role=Role.REDUCE),
        received,
        Bars.of(schedule, sends, row=machine[sends], lane=SEND, role=Role.SEND),
    ]
    return Picture(
        rows=tuple(Row(name, LANES) for name in problem.machines),
        bars=Bars.concatenate(bars),
        labels=OnDemand(len(schedule), lambda row: segment_name(int(schedule.item[row]))),
        fuller={
            Role.SEND: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "→")),
            Role.RECEIVE: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "←")),
            Role.REDUCE: OnDemand(len(schedule), lambda row: _ends(problem, schedule, row, "←")),
        },
    )


def grouped(problem: Reduction, schedule: Schedule, by: str, details: Mapping[str, Any]) -> Groups:
    """Return the activities of each transfer in a colour: its send, reception and combination."""
    if by != "transfer":
        raise InputError(f"by: {by!r} is not a way to tell activities apart; it is transfer")
    schedule = schedule.renamed(problem.machines)
    sends = schedule.rows_of(Activity.SEND)
    of = np.full(len(schedule), -1, dtype=np.int64)
    of[reductions_of(schedule, sends)] = of[sends] = np.arange(len(sends))
    names = OnDemand(len(sends), lambda each: _ends(problem, schedule, int(sends[each]), "→"))
    return Groups(of, names)


def _ends(problem: Reduction, schedule: Schedule, row: int, arrow: str) -> str:
    """Return the segment of an activity, and to or from whom it goes."""
    segment, other = segment_name(int(schedule.item[row])), int(schedule.peer[row])
    if arrow == "←" and schedule.kind[row] == Activity.SEND:
        other = int(schedule.machine[row])
    return f"{segment}{arrow}{problem.machines[other]}" if other >= 0 else segment


ROOTED = ("reduce", "broadcast", "gather", "scatter")  # collectives in which machine 1 is the root
APART, ABREAST = 3.6, 3  # how far circles of machines stand apart, in radii, and how many abreast
MOST_TREES = 6
MOST_NODES = 120
MOST_MACHINES = 12  # machines up to which the times between all of them are drawn
Pair = tuple[int, int]


def graph(problem: Reduction, schedule: Schedule | None = None, **_: Any) -> Diagram:
    """Return who sends to whom: one tree for all segments that are sent alike.

    Where machines send in circles, they stand in one. At a line stand the segments, and of a plan
    the time at which the send begins. Where the problem leaves the
    destinations open, the machines with the times between them.
    """
    sends: dict[int, dict[Pair, tuple[float, int]]] = {}
    if schedule is not None:
        schedule = schedule.renamed(problem.machines)
        for row in schedule.rows_of(Activity.SEND).tolist():
            pair = int(schedule.machine[row]), int(schedule.peer[row])
            sends.setdefault(int(schedule.item[row]), {})[pair] = float(schedule.start[row]), row
    elif problem.destinations is not None:
        for machine, goals in enumerate(problem.destinations):
            for segment, goal in enumerate(goals):
                if machine:
                    sends.setdefault(segment, {})[machine, goal - 1] = np.nan, -1
    if not sends:
        return _open(problem)
    alike: dict[tuple[Pair, ...], list[int]] = {}
    for segment in sorted(sends):
        alike.setdefault(tuple(sorted(sends[segment])), []).append(segment)
    return _trees(problem, sends, alike)


def _trees(
    problem: Reduction,
    sends: dict[int, dict[Pair, tuple[float, int]]],
    alike: dict[tuple[Pair, ...], list[int]],
) -> Diagram:
    count = len(problem.machines)
    most = max(1, min(MOST_TREES, MOST_NODES // count))
    labels: list[str] = []
    texts: list[str] = []
    items: list[int] = []
    source: list[int] = []
    target: list[int] = []
    activities: list[int] = []
    places: list[Floats] = []
    circular = any(_has_circle(pairs) for pairs in alike)
    for pairs, segments in list(alike.items())[:most]:
        within = sorted({machine for pair in pairs for machine in pair})
        down, across = divmod(len(places), ABREAST)
        places.append(_around(len(within)) + APART * np.array([across, 0.75 * down]))
        place = {machine: len(labels) + index for index, machine in enumerate(within)}
        labels += [problem.machines[machine] for machine in within]
        items += within
        for pair in pairs:
            source.append(place[pair[0]])
            target.append(place[pair[1]])
            begun = [sends[segment][pair] for segment in segments]
            times = (
                "" if np.isnan(begun[0][0]) else " at " + ", ".join(short(b) for b, _ in begun[:3])
            )
            more = "…" if len(begun) > 3 and times else ""
            texts.append(f"{_names(segments)}{times}{more}" if len(alike) > 1 or times else "")
            activities.append(begun[0][1])
    hidden = len(alike) - most
    shared = "all segments alike" if len(alike) == 1 else f"{len(alike)} ways"
    return Diagram(
        nodes=Nodes(
            label=labels,
            item=np.array(items, dtype=np.int64),
            bold=np.array(items) == 0 if problem.collective in ROOTED else None,
            **(dict(zip("xy", np.concatenate(places).T, strict=True)) if circular else {}),
        ),
        edges=Edges(
            source=np.array(source, dtype=np.int64),
            target=np.array(target, dtype=np.int64),
            label=texts,
            item=np.array(activities, dtype=np.int64),
        ),
        title=f"who sends to whom: {len(sends)} segments of {count} machines, {shared}",
        stands_for="machine",
        carries="activity",
        bold="the root",
        notes=(
            "at a line: the segments, and when their sends begin",
            *([f"and {hidden} more ways"] if hidden > 0 else []),
        ),
    )


def _around(count: int) -> Floats:
    """Return the places of machines in a circle, the first at its top."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.column_stack([1.35 * np.sin(angle), -np.cos(angle)])


def _has_circle(pairs: tuple[Pair, ...]) -> bool:
    """Whether sends lead back to where they began: then there are no layers to draw them in."""
    sorter = TopologicalSorter[int]()
    for source, target in pairs:
        sorter.add(target, source)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


def _names(segments: list[int]) -> str:
    """Return the names of segments as people write them.

    >>> _names([0, 1, 2, 5])
    'S1–S3, S6'
    """
    runs: list[list[int]] = []
    for segment in segments:
        if runs and segment == runs[-1][1] + 1:
            runs[-1][1] = segment
        else:
            runs.append([segment, segment])
    return ", ".join("–".join(map(segment_name, sorted({*run}))) for run in runs)


def _who(problem: Reduction) -> str:
    if problem.links is None:
        return "any machine may send to any other"
    pairs = int((problem.links | problem.links.T).sum()) // 2
    return f"links between {pairs:,} pairs of machines"


def _open(problem: Reduction) -> Diagram:
    """Return the machines around the root, and the links between them."""
    count = min(len(problem.machines), MOST_MACHINES)
    hidden = len(problem.machines) - count
    x, y = _around(count).T
    said = [
        f"{_who(problem)}; {problem.segments} segments",
        *([f"and {hidden:,} more machines"] if hidden else []),
    ]
    notes: list[str] = [""] * count
    texts: list[str] = []
    linked = ~np.eye(count, dtype=bool) if problem.links is None else problem.links[:count, :count]
    source, target = np.nonzero(linked)
    if problem.segments == "auto":
        said.append(f"{short(problem.bytes or 0.0)} bytes in all")
    else:
        notes = [f"reduce {short(each)}" for each in problem.reduces[:count].tolist()]
        pairs = np.array([problem.latencies[source, target], problem.transfers[source, target]])
        if pairs.size and (pairs == pairs[:, :1]).all():
            once = (source < target) | ~linked[target, source]
            source, target = source[once], target[once]
            said.insert(1, f"latency {short(pairs[0, 0])}, transfer {short(pairs[1, 0])} a segment")
        else:
            texts = [f"{short(a)} + {short(b)}" for a, b in pairs.T.tolist()]
            said.insert(1, "at a line: latency + transfer of a segment")
    return Diagram(
        nodes=Nodes(
            label=[problem.machines[machine] for machine in range(count)],
            note=notes,
            bold=np.arange(count) == 0 if problem.collective in ROOTED else None,
            x=x,
            y=y,
        ),
        edges=Edges(source=source, target=target, label=texts, arrow=bool(texts)),
        title=f"{problem.collective} of {len(problem.machines):,} machines",
        stands_for="machine",
        carries="activity",
        bold="the root",
        notes=tuple(said),
    )


def platform(problem: Reduction, schedule: Schedule | None = None, **_: Any) -> Diagram:
    """Return the machines and routers with their links, and of a plan the data on each.

    Raises InputError where the problem states no network, or one too large to be drawn.
    """
    network = problem.network
    if network is None:
        raise InputError("view: 'platform' needs a network, and the problem states none")
    count = len(network.nodes)
    if count > MOST_SHOWN:
        raise InputError(f"view: 'platform' shows up to {MOST_SHOWN} nodes, and there are {count}")
    reduces = problem.reduces.tolist() if problem.statement.combining else []
    notes = [f"reduce {short(each)}" for each in reduces] or [""] * len(network)
    notes += ["router"] * len(network.routers)
    carried = None
    if schedule is not None:
        schedule = schedule.renamed(problem.machines)
        carried = np.zeros((count, count))
        for row in schedule.rows_of(Activity.SEND).tolist():
            start, node = int(schedule.machine[row]), int(schedule.peer[row])
            while node != start:
                before = int(network.ways.via[start, node])
                carried[before, node] += float(schedule.amount[row])
                node = before
    title = f"network: {len(network):,} machines, {network.topology}"
    title += "" if problem.ports is None else ", a port for each link"
    shared: tuple[str, ...] = ()
    if problem.shared is not None:
        names = [name.removeprefix("the link ") for name in problem.shared.names]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        shared = (f"one transfer at a time: {', '.join(names[:6])}{more}",)
    return network_diagram(network, title, notes, carried, shared)


VIEWS = {"graph": graph, "platform": platform}
