"""Methods called by name with what is beyond their reach: a plan in time, or a refusal that says
how large it is.

``python -m benchmarks.limits`` tries all of them at all sizes; these are those that were late.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from makespan import (
    Affine,
    DivisibleLoad,
    IndependentTasks,
    Master,
    Network,
    Source,
    Sources,
    Star,
    TaskGraph,
    Worker,
    solve,
)
from makespan.core.control import GRACE, Control
from makespan.core.errors import TooLarge
from makespan.core.problem import Problem
from makespan.core.solution import Solution
from makespan.divisible.methods import pareto
from makespan.divisible.methods.sequence_search import SequenceSearch, sequence_search
from makespan.independent.list_scheduling import handed_out
from makespan.taskgraph import bounds

FREE = Star([Worker(send=0.1 + 0.05 * place, compute=1.0 + place) for place in range(4)])
EVERY_TURN = [f"P{1 + chunk % 4}" for chunk in range(40)]


def _star(count: int, **columns: Any) -> Star:
    rng = np.random.default_rng(count)
    return Star.from_arrays(
        send_per_unit=rng.uniform(0.1, 0.2, count),
        compute_per_unit=rng.uniform(1.0, 2.0, count),
        **columns,
    )


def _sources(count: int) -> DivisibleLoad:
    holders = [Source(load=5.0, send=[1.0] * count) for _ in range(3)]
    return DivisibleLoad(platform=Sources(holders, [Worker(compute=2.0)] * count))


def _ring(machines: int) -> TaskGraph:
    tasks = np.arange(1, 30)
    return TaskGraph.from_arrays(
        network=Network(np.ones(machines), topology="ring"),
        work=np.ones(30),
        source=tasks // 2,
        target=tasks,
        size=0.1,
        contention="links",
    )


def _by_speeds(machines: int, **more: Any) -> IndependentTasks:
    rng = np.random.default_rng(machines)
    durations = rng.uniform(1.0, 2.0, 3 * machines)
    return IndependentTasks(machines, durations, speeds=rng.uniform(1.0, 4.0, machines), **more)


@pytest.mark.parametrize(
    ("make", "method", "size"),
    [
        (lambda: DivisibleLoad(load=9.0, platform=_star(2000)), "chunk-programme", "2,000 workers"),
        (lambda: _sources(3000), "source-flows", "9,000 links"),
        (lambda: _sources(3000), "source-search", "9,000 links"),
        (lambda: _sources(3000), "source-programme", "9,000 links"),
        (lambda: _by_speeds(20_000), "max-min", "60,000 tasks on 20,000 machines"),
        (lambda: _by_speeds(20_000), "milp", "60,000 tasks on 20,000 machines"),
    ],
)
def test_refused_with_the_size(make: Callable[[], Problem], method: str, size: str) -> None:
    """Nothing is begun that can't end."""
    with pytest.raises(TooLarge, match=size):
        solve(make(), method=method, time_limit=1.0)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"use": "all"},
        {"front_end": False},
        {"ports": "many"},
        {"ports": "many", "platform": FREE.changed(master=Master(sends=2))},
    ],
)
def test_given_chunks_without_limit(changes: dict[str, Any]) -> None:
    """Of forty given chunks each may be missing: a trillion sequences are too many to list."""
    problem = DivisibleLoad(load=20.0, platform=FREE, activation=EVERY_TURN)
    search = SequenceSearch(replace(problem, **changes), Control(), programmes=20)
    assert search._all_cases() is None


@pytest.mark.parametrize(("method", "release"), [("mct", 0.0), ("mct", 3.0), ("uniform-lpt", 0.0)])
def test_tasks_by_speeds_without_time(method: str, release: float) -> None:
    """All tasks are placed, and not much worse than with time."""
    problem = _by_speeds(50, release=release)
    hurried = solve(problem, method=method, time_limit=0.0)
    assert hurried.makespan <= 1.5 * solve(problem, method=method).makespan


def test_tasks_handed_out_by_pace() -> None:
    """Each to the machine that is free first, whatever its pace; from when on it is free."""
    rng = np.random.default_rng(0)
    seconds, pace, free = rng.random(40), rng.uniform(0.5, 2.0, 6), rng.random(6)
    ends, right = free.copy(), []
    for duration in seconds:
        machine = int(ends.argmin())
        right.append(machine)
        ends[machine] += duration * pace[machine]
    assert handed_out(seconds, pace, free).tolist() == right


def test_a_front_without_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two ends are made; the points between for which there is no time are left out."""
    begun: list[DivisibleLoad] = []

    def noted(problem: DivisibleLoad, control: Control) -> Solution:
        begun.append(problem)
        return sequence_search(problem, control)

    monkeypatch.setattr(pareto, "sequence_search", noted)
    star = _star(40, price_per_unit=np.linspace(1.0, 2.0, 40))
    problem = DivisibleLoad(load=300.0, platform=star, objective="pareto")
    result = solve(problem, method="pareto", time_limit=0.0)
    assert result.status != "optimal"
    assert len(begun) == 2


@pytest.mark.parametrize("method", ["heft", "cpop", "mct"])
def test_long_routes_without_time(method: str) -> None:
    """A plan on a ring whose routes are long, without every machine being tried for a task."""
    problem = _ring(300)
    result = solve(problem, method=method, time_limit=0.0)
    assert result.schedule is not None


def test_makespans_are_not_refuted_for_very_many_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durations of each task on each machine in plain Python would take gigabytes."""
    monkeypatch.setattr(bounds, "MOST_DURATIONS", 30 * 20 - 1)
    found = {bound.name: bound.value for bound in bounds.bounds(_ring(20))}
    assert found["refuted"] == max(value for name, value in found.items() if name != "refuted")


def test_an_uplink_of_very_many_workers() -> None:
    """One after another, where there is no time to share the uplink out."""
    star = _star(3000, master=Master(uplink=20.0))
    problem = DivisibleLoad(load=3000.0, platform=star, ports="many")
    hurried = solve(problem, method="independent-links", time_limit=0.0)
    assert hurried.makespan >= solve(problem, method="independent-links").makespan * (1 - 1e-9)


def test_time_is_claimed() -> None:
    """What ends a little late is begun, what ends much later is not; without a limit all is."""
    Control(time_limit=1.0).claim(0.9 + GRACE, "a little")
    Control().claim(1e9, "a lot")
    with pytest.raises(TooLarge, match=r"a lot would take 100\.0 s; the time limit leaves 1.0 s"):
        Control(time_limit=1.0).claim(100.0, "a lot")


def test_start_ups_of_many_workers() -> None:
    """The bound of more than 200 workers is the least time at which the load fits, of a price."""
    from makespan.divisible.bounds import _least_ends_alone

    rng = np.random.default_rng(3)
    fixed, begun = rng.uniform(0.0, 3.0, (2, 300))
    star = _star(
        300, send_fixed=fixed, compute_fixed=begun, master=Master(compute=Affine(2.0, 5.0))
    )
    problem = DivisibleLoad(load=500.0, platform=star, rounds="auto")
    prices = np.array([0.0, 0.5, 4.0, 9.0])

    def most(price: float, end: float) -> float:
        worth = np.maximum(0.0, 1.0 - price * star.send_per_unit) / star.compute_per_unit
        gains = worth * (end - begun - fixed) - price * fixed
        return float(price * end + np.maximum(0.0, gains).sum() + max(0.0, end - 2.0) / 5.0)

    for price, end in zip(prices, _least_ends_alone(problem, prices, 0.0), strict=True):
        assert most(price, end) == pytest.approx(500.0, rel=1e-9)
