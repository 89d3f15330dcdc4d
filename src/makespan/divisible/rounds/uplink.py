"""Sends that share an uplink: it is cut into lanes that are alike, and each send has one of them.

A send holds its lane while its data flow; what it takes to start goes on beside other sends. Where
the master can have only so many sends at a time, workers don't compute while they receive, or
results return in the order of the sends, a send holds its lane from its start on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from makespan.core.inputs.rules import GREATEST
from makespan.core.schedule import Activity, Schedule
from makespan.core.solution import Solution
from makespan.divisible.model.machines import Master
from makespan.divisible.model.plan import price_of
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import retimed
from makespan.divisible.timing.dispatch import returns_in_turn, sends_in_turn


def simpler(problem: DivisibleLoad) -> DivisibleLoad:
    """Return a problem with the same plans, the limits of whose links all matter.

    An uplink that carries all links at once is none, nor is a limit of as many sends as there are
    workers. One send at a time, where nothing returns, is one port.

    >>> from makespan import Star, Worker
    >>> star = Star([Worker(send=1.0, compute=2.0)] * 2, master=Master(sends=1))
    >>> simpler(DivisibleLoad(load=3.0, platform=star, ports="many")).ports
    1
    """
    if not problem.is_star or problem.ports != "many" or problem.transfers is not None:
        return problem
    star, master = problem.star, problem.star.master
    if not isinstance(master, Master):
        return problem
    most = min(len(star), master.sends or len(star))
    sends = master.sends if most < len(star) else None
    uplink = master.uplink
    if uplink is not None:
        with np.errstate(divide="ignore"):
            rates = np.sort(1.0 / star.send_per_unit)[::-1]
        uplink = uplink if rates[:most].sum() > uplink else None
    ports: Literal[1, "many"] = "many"
    if sends == 1 and uplink is None and not problem.has_returns:
        ports, sends = 1, None
    if (ports, sends, uplink) == (problem.ports, master.sends, master.uplink):
        return problem
    changed = star.changed(master=replace(master, sends=sends, uplink=uplink))
    found = replace(problem, platform=changed, ports=ports)
    return found if ports == 1 or _in_turn(found) == _in_turn(problem) else problem


def _in_turn(problem: DivisibleLoad) -> tuple[bool, bool]:
    return sends_in_turn(problem), returns_in_turn(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneProblem:
    """A problem without an uplink whose plans, with data in so many lanes, keep that of another.

    0 lanes: nothing more is asked of them. ``same``: it has the same plans as the other.
    """

    problem: DivisibleLoad
    lanes: int = 0
    same: bool = False


def lane_problems(problem: DivisibleLoad) -> Iterator[LaneProblem]:
    """Yield a problem itself where there is no uplink that could be too narrow, else with lanes:
    one, two, and as many as there can be sends at a time.
    """
    problem = simpler(problem)
    star, master = problem.star, problem.star.master
    uplink = getattr(master, "uplink", None)
    if uplink is None:
        yield LaneProblem(problem=problem, same=True)
        return
    assert isinstance(master, Master)
    most = min(len(star), master.sends or len(star))
    freed = replace(master, uplink=None)
    apart = master.sends is None and (problem.front_end or problem.served_once)
    apart = apart and not returns_in_turn(problem)  # which a limit of sends tells all rooms
    for count in sorted({1, 2, most} - {0} if most > 1 else {1}):
        if count / uplink > GREATEST:
            return
        send = np.maximum(star.send_per_unit, count / uplink)
        master = freed if apart else replace(freed, sends=count)
        each = replace(problem, platform=star.changed(send_per_unit=send, master=master))
        yield LaneProblem(problem=each, lanes=count if apart and count < len(star) else 0)


def place_in_lanes(problem: DivisibleLoad, shape: LaneProblem, found: Solution) -> Solution:
    """Return what was found for a shape as a solution of the problem itself."""
    goal = found.objective
    if not shape.same and problem.load != 0:  # other rates may do better
        goal = None if goal is None else replace(goal, bound=None)
        found = replace(found, optimal=False, infeasible=None, objective=goal)
    if not shape.lanes or found.schedule is None:
        return found
    schedule = _in_lanes(problem, shape, found.schedule)
    if problem.objective == "price" and goal is not None:
        goal = replace(goal, value=price_of(problem.star, schedule))
    return replace(found, schedule=schedule, objective=goal)


def _in_lanes(problem: DivisibleLoad, shape: LaneProblem, schedule: Schedule) -> Schedule:
    """Return the plan of a shape with its sends in lanes, each as early as one is free.

    Complexity: O(rows log rows).
    """
    star = shape.problem.star
    sends = schedule.rows_of(Activity.SEND)
    sends = sends[np.argsort(schedule.item[sends], kind="stable")]
    worker = schedule.peer[sends] - 1
    fixed = star.send_fixed[worker]
    lasting = fixed + star.send_per_unit[worker] * schedule.amount[sends]
    lane, link = np.zeros(shape.lanes), np.zeros(len(star))
    begin, end = schedule.start.copy(), schedule.end.copy()
    last, in_turn = 0.0, sends_in_turn(problem)
    for row, mine, start_up, seconds in zip(sends, worker, fixed, lasting, strict=True):
        last = max(link[mine], last if in_turn else 0.0)
        idle = np.where(lane <= last + start_up, lane, -1.0)  # the one that waits least for it
        free = int(np.argmax(idle) if idle.max() >= 0.0 else np.argmin(lane))
        last = max(last, lane[free] - start_up)
        lane[free] = link[mine] = end[row] = last + seconds
        begin[row] = last
    behind = schedule.kind != Activity.SEND  # in their order, when all sends have a time
    begin[behind] += end.max(initial=0.0)
    end[behind] += end.max(initial=0.0)
    return retimed(problem, schedule.timed(begin, end))
