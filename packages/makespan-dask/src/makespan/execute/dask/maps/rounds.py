"""Plans on what was measured: as many rounds as pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from makespan.core.errors import ExecutionError, MethodError
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats
from makespan.core.schedule import Activity, Schedule
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.calibration import USUAL_ROUNDS, Calibration
from makespan.flow.result import Result
from makespan.flow.solve import solve

ROUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
SECONDS_A_PLAN = 0.25
WORTH_MORE_ROUNDS = 0.01  # of the end: for less, no more chunks; each costs more than is measured
WORSE_AT_MOST = 2  # so many numbers of rounds in a row may bring nothing
PROMISE_WITHIN = 0.03  # of the end: a plan may promise so much too little or too much
PASSES = 3  # over the share of waiting that each chunk is charged
HALVINGS = 40  # of that share

Ports = Literal[1, 2, "many"]


@suggesting
def plan(calibration: Calibration, load: float, *, most_rounds: int | None = None) -> Result:
    """Return the best plan found for ``load`` units on a calibrated cluster.

    Several numbers of rounds are planned, each on the platform that fits it (see
    :meth:`Calibration.star`); where concurrent sends overlap, with concurrent sends and in turn.

    Parameters
    ----------
    calibration
        The cluster.
    load
        Units.
    most_rounds
        The most chunks a worker may get; None leaves it open.

    Raises
    ------
    ExecutionError
        If no method can plan it.

    >>> from makespan.execute import dask
    >>> costs = dask.calibrate(abs, list(range(1000)), client, time_limit=0.2)  # doctest: +SKIP
    >>> dask.plan(costs, 4000, most_rounds=2).makespan > 0  # doctest: +SKIP
    True
    """
    best: tuple[float, Result] | None = None
    tried = [number for number in ROUNDS if most_rounds is None or number <= max(1, most_rounds)]
    lines = [_in_turn(calibration, load, tried)]
    if calibration.ports == "many":
        lines.append(_on_own_links(calibration, load, most_rounds))
    for line in lines:
        best = _first_to_end(line, best)
    if best is None:
        raise ExecutionError("no method can plan on this platform")
    return best[1]


def _first_to_end(
    line: Iterator[tuple[float, Result] | None], best: tuple[float, Result] | None
) -> tuple[float, Result] | None:
    """Take plans from a line until several in a row bring nothing."""
    worse, here = 0, float("inf")
    for found in line:
        if found is not None and found[0] < (1.0 - WORTH_MORE_ROUNDS) * here:
            worse, here = 0, found[0]
            if best is None or here < best[0]:
                best = found
        else:
            worse += 1
        if worse > WORSE_AT_MOST:
            break
    return best


def _in_turn(
    calibration: Calibration, load: float, tried: Sequence[int]
) -> Iterator[tuple[float, Result] | None]:
    """Plan for one port, with ever more rounds."""
    for rounds in tried:
        star = calibration.star(waits=1.0 / rounds)
        found = _solved(DivisibleLoad(platform=star, load=load, rounds=rounds))
        if found is None:
            yield None
            continue
        sequence = tuple(chunk["worker"] for chunk in found.answer["chunks"])

        def again(star: Star, sequence: tuple[str, ...] = sequence) -> DivisibleLoad:
            return DivisibleLoad(platform=star, load=load, activation=sequence)

        yield _settled(calibration, 1, found, again)


def _on_own_links(
    calibration: Calibration, load: float, most_rounds: int | None
) -> Iterator[tuple[float, Result] | None]:
    """Plan for links of their own: one round, and as many as the method finds best."""
    once = calibration.problem(load, ports="many")
    found = _solved(once)
    yield None if found is None else (_waiting(calibration, "many", found).end, found)
    if most_rounds is not None and most_rounds < 2:
        return

    def several(star: Star) -> DivisibleLoad:
        return replace(once, platform=star, rounds="auto")

    found = _solved(several(calibration.star(waits=1.0 / USUAL_ROUNDS, ports="many")))
    yield None if found is None else _settled(calibration, "many", found, several)


def _settled(
    calibration: Calibration, ports: Ports, found: Result, again: Callable[[Star], DivisibleLoad]
) -> tuple[float, Result]:
    """Plan again with waiting charged as the plan before shows; keep the best that holds."""
    end, plans = _waiting(calibration, ports, found), []
    for _ in range(PASSES):
        plans.append((abs(end.end - _end(found)), end.end, found))
        better = _solved(again(calibration.star(waits=end.shares, ports=ports)))
        if better is None:
            break
        found, end = better, _waiting(calibration, ports, better)
    plans.append((abs(end.end - _end(found)), end.end, found))
    _, ends, chosen = min(plans, key=lambda entry: entry[1] + _doubt(entry[0], entry[1]))
    return ends, chosen


def _doubt(off: float, end: float) -> float:
    """Return what a plan loses whose promise is off by more than a little."""
    return 3.0 * max(0.0, off - PROMISE_WITHIN * end)


def _waiting(calibration: Calibration, ports: Ports, found: Result) -> Waiting:
    assert found.schedule is not None
    return waiting(
        found.schedule,
        calibration.star(waits=0.0, ports=ports),
        calibration.star(waits=1.0, ports=ports),
    )


def _solved(problem: DivisibleLoad) -> Result | None:
    try:
        found = solve(problem, time_limit=SECONDS_A_PLAN)
    except MethodError:
        return _without_returns(problem)
    return found if found.schedule is not None else None


def _without_returns(problem: DivisibleLoad) -> Result | None:
    """Plan with the returns as a part of the computation, where they can't be planned."""
    star = problem.star
    if not star.returns.any():
        return None
    folded = Star.from_arrays(
        names=tuple(star.names),
        master=star.master,
        send_fixed=star.send_fixed,
        send_per_unit=star.send_per_unit,
        compute_fixed=star.compute_fixed + star.return_fixed / max(1, _rounds(problem)),
        compute_per_unit=star.compute_per_unit + star.return_per_unit,
    )
    return _solved(replace(problem, platform=folded))


def _rounds(problem: DivisibleLoad) -> int:
    return problem.rounds if isinstance(problem.rounds, int) else 1


def _end(result: Result) -> float:
    assert result.makespan is not None
    return result.makespan


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The end of a plan, and each chunk's share of waiting, by which affine costs give that end."""

    end: float
    shares: dict[str, float]


def waiting(schedule: Schedule, free: Star, full: Star) -> Waiting:
    """Return when a plan really ends.

    A worker's chunks, arrived at ``a_k`` and computed in ``p_k`` seconds each, are done at ``max_k
    (a_k + sum_(j >= k) p_j)``, and what it waits for the scheduler comes on top once. The schedule,
    of a star, has sends and computations. ``free`` is the platform with no waiting charged,
    ``full`` with all of it charged to each chunk.
    """
    sends = schedule.rows_of(Activity.SEND)
    arrival = dict(zip(schedule.item[sends].tolist(), schedule.end[sends].tolist(), strict=True))
    computes = schedule.rows_of(Activity.COMPUTE)
    shares: dict[str, float] = {}
    end = 0.0
    for worker, name in enumerate(free.names):
        rows = computes[schedule.machine[computes] == schedule.machines.index(name)]
        if not len(rows):
            continue
        arrived = np.array([arrival[item] for item in schedule.item[rows].tolist()])
        seconds = free.compute_fixed[worker] + free.compute_per_unit[worker] * schedule.amount[rows]
        wait = float(full.compute_fixed[worker] - free.compute_fixed[worker])
        done = _done(arrived, seconds) + wait
        shares[name] = _share(arrived, seconds, wait, done)
        back = schedule.end[_returns_of(schedule, rows)]
        computed = schedule.end[rows]
        end = max(end, done + (float(back.max() - computed.max()) if len(back) else 0.0))
    return Waiting(end=end, shares=shares)


def _done(arrived: Floats, seconds: Floats) -> float:
    left = np.cumsum(seconds[::-1])[::-1]
    return float((arrived + left).max())


def _share(arrived: Floats, seconds: Floats, wait: float, done: float) -> float:
    """Return the share of ``wait`` that, charged to each chunk, ends them at ``done``."""
    if wait <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _done(arrived, seconds + middle * wait) < done:
            low = middle
        else:
            high = middle
    return high


def _returns_of(schedule: Schedule, computes: np.ndarray) -> np.ndarray:
    items = schedule.item[computes]
    return np.flatnonzero((schedule.kind == Activity.RETURN) & np.isin(schedule.item, items))
