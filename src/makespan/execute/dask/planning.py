"""Plans on what was measured: as many rounds as pay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

from makespan.core.errors import ExecutionError, MethodError
from makespan.core.result import Result
from makespan.divisible.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.calibration import Calibration
from makespan.flow._solve import solve

ROUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24)
SECONDS_A_PLAN = 0.25
WORSE_AT_MOST = 2  # so many numbers of rounds in a row may bring nothing

Ports = Literal[1, 2, "many"]
Rounds = int | Mapping[str, int]
Platform = Callable[[Rounds, Ports], Star]


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
    """

    def platform(rounds: Rounds, ports: Ports) -> Star:
        return calibration.star(rounds=rounds, ports=ports)

    return best_plan(platform, load, ports=calibration.ports, most_rounds=most_rounds)


def best_plan(
    platform: Platform, load: float, *, ports: Ports = 1, most_rounds: int | None = None
) -> Result:
    """Return the plan with the least makespan over ports and numbers of rounds."""
    best: Result | None = None
    for taken in dict.fromkeys((ports, 1)):
        found = _best_rounds(platform, load, taken, most_rounds)
        if found is not None and (best is None or _end(found) < _end(best)):
            best = found
    if best is None:
        raise ExecutionError("no method can plan on this platform")
    return best


def _best_rounds(
    platform: Platform, load: float, ports: Ports, most_rounds: int | None
) -> Result | None:
    best: Result | None = None
    worse = 0
    for rounds in ROUNDS:
        if most_rounds is not None and rounds > max(1, most_rounds):
            break
        found = _rounds_planned(platform, load, ports, rounds)
        if found is None:
            if rounds > 1:
                break
            continue
        if best is None or _end(found) < _end(best):
            best, worse = found, 0
        else:
            worse += 1
        if worse > WORSE_AT_MOST:
            break
    return best


def _rounds_planned(
    platform: Platform, load: float, ports: Ports, rounds: int
) -> Result | None:
    """Plan at most so many rounds; then again with the number of chunks that each worker got."""
    problem = DivisibleLoad(
        platform=platform(rounds, ports), load=load, rounds=rounds, ports=ports
    )
    found = _solved(problem)
    if found is None or rounds == 1:
        return found
    sequence = tuple(chunk["worker"] for chunk in found.answer["chunks"])
    again = DivisibleLoad(
        platform=platform(Counter(sequence), ports), load=load, ports=ports, activation=sequence
    )
    return _solved(again) or found


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
        master=star.master,  # type: ignore[arg-type]
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
