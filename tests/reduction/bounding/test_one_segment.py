"""Bounds where machines and links differ, against the optimum of a plain model for CP-SAT."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import Interconnect, Reduction, solve
from makespan.core.errors import ProblemError
from makespan.reduction.bounding import distances, one_segment as module
from makespan.reduction.bounding.one_segment import one_segment
from makespan.reduction.bounds import bounds
from tests.oracles.reduction_optimum import optimum
from tests.thorough import few

COLLECTIVES = "all-reduce", "reduce", "broadcast"
TOPOLOGIES = "ring", "star", "bus", "tree", "nodes"


def random_problem(seed: int) -> Reduction | None:
    """Return a small problem of whole times with fields mixed; None where it is refused."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 6))
    given: dict[str, Any] = {
        "segments": int(rng.integers(1, 4 if count < 5 else 3)),
        "collective": COLLECTIVES[seed % 3],
    }
    match int(rng.integers(3)):
        case 0:
            given |= {"machines": count, "transfer": rng.integers(1, 10, (count, count)) * 1.0}
            if rng.random() < 0.3:  # a missing link
                given["transfer"][rng.integers(count), rng.integers(count)] = np.inf
            if rng.random() < 0.5:
                given["latency"] = rng.integers(0, 6, (count, count)) * 1.0
        case 1:
            rack, far = rng.integers(0, 2, count), float(rng.integers(2, 9))
            transfer = np.where(rack[:, None] == rack, 1.0, far)
            given |= {"machines": count, "transfer": transfer, "latency": float(rng.integers(4))}
        case _:
            topology: Any = TOPOLOGIES[int(rng.integers(len(TOPOLOGIES)))]
            options: Any = {
                "latency": float(rng.integers(3)),
                "rate": 1 / float(rng.integers(1, 4)),
            }
            if topology == "nodes":
                count, options["shape"] = 4, [2, 2]
                options["links"] = [("card 1", "switch", 0.5), ("card 2", "switch", 1.0)]
            elif topology != "bus" and rng.random() < 0.4:
                options["ports"] = "links"
            given["network"] = Interconnect(count, topology=topology, **options)
    if rng.random() < 0.5:
        given["reduce"] = rng.integers(0, 6, count) * 1.0
    if rng.random() < 0.3:
        given["segment_sizes"] = rng.integers(1, 4, given["segments"]) * 1.0
    try:
        return Reduction(**given)
    except ProblemError:
        return None


@pytest.mark.parametrize("start", few(100, 3))
def test_no_bound_is_above_the_optimum(start: int) -> None:
    """Of four problems of all sorts, also where the optimum itself is not proved."""
    for seed in range(4 * start, 4 * start + 4):
        problem = random_problem(seed)
        if problem is None:
            continue
        far = np.where(np.isfinite(problem.transfers), problem.transfers, 0.0).max()
        each = (far + problem.reduces.max()) * problem.sizes.max() + problem.latencies[
            np.isfinite(problem.latencies)
        ].max()
        most = 2 * len(problem.machines) * problem.items * each
        best = optimum(problem, most, seconds=1.0).makespan
        for bound in bounds(problem):
            assert bound.value <= best + 1e-6, (seed, bound.name)


@pytest.mark.parametrize("collective", ["reduce", "broadcast"])
@pytest.mark.parametrize("seed", range(4))
def test_one_segment_on_its_ports_takes_exactly_that(seed: int, collective: Any) -> None:
    """Of unlike machines, with latencies, where combining is never slower than all sends."""
    rng = np.random.default_rng(seed)
    transfer = rng.integers(2, 17, (5, 5)).astype(float)
    latency = rng.integers(0, 5, (5, 5)).astype(float)
    problem = Reduction(
        machines=5, segments=1, transfer=transfer, latency=latency, collective=collective
    )
    least = one_segment(problem, 1.0, back=collective == "reduce", quick=False)[0]
    assert least == pytest.approx(optimum(problem, 200.0).makespan, rel=1e-9)


def test_machines_that_are_joined_give_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few classes the bound falls, but never below the longest way."""
    transfer = np.random.default_rng(1).integers(2, 17, (7, 7)).astype(float)
    problem = Reduction(machines=7, segments=1, transfer=transfer, collective="broadcast")
    exact = one_segment(problem, 1.0, back=False, quick=False)
    for most in (3**5, 1):
        one_segment.cache_clear()
        monkeypatch.setattr(module, "MOST_STEPS", most)
        joined = one_segment(problem, 1.0, back=False, quick=False)
        assert (joined <= exact).all()
        ways = distances(problem, 1.0, back=False, combining=False)
        assert (joined >= ways.max(axis=1) * (1 - 1e-9)).all()
    one_segment.cache_clear()


def test_machines_that_are_alike_are_counted() -> None:
    """Sixteen equal machines have a segment after four rounds; it takes few groups to say so."""
    transfer = np.ones((16, 16))
    problem = Reduction(machines=16, segments=1, transfer=transfer, collective="broadcast")
    assert one_segment(problem, 1.0, back=False, quick=False) == pytest.approx(np.full(16, 4.0))


def test_small_unlike_all_reduces_are_proved() -> None:
    """The issue's racks: the line between them is six times as slow."""
    rack = np.array([0, 0, 0, 1, 1])
    transfer = np.where(rack[:, None] == rack, 1.0, 6.0)
    problem = Reduction(machines=5, segments=2, transfer=transfer, collective="all-reduce")
    result = solve(problem, method="cp-sat", time_limit=20)
    assert result.status == "optimal"
    assert result.makespan == optimum(problem, result.makespan).makespan
