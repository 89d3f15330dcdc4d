"""Bounds where groups of machines each combine and copy segments of their own."""

from itertools import pairwise

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.reduction.bounds import best_bound, bounds
from tests.oracles.reduction_optimum import optimum
from tests.thorough import few


def in_groups(sizes: list[int], segments: int, **times: object) -> Reduction:
    """Return all-reduces of groups of so many machines each, of as many segments."""
    ends = np.cumsum([0, *sizes])
    lists = [list(range(one + 1, other + 1)) for one, other in pairwise(ends)]
    held = [each for each in lists for _ in range(segments)]
    return Reduction(
        machines=int(ends[-1]), segments=len(held), collective="custom", before=held, after=held,
        combine=True, **times,
    )  # fmt: skip


def test_of_two_groups() -> None:
    """Of four segments each machine gives three parts and three copies; one grows in 3 s."""
    problem = in_groups([4, 4], 4, transfer=1.0, latency=0.5)
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["ports"] == pytest.approx(6.5)
    assert values["growth"] == pytest.approx(6.0)
    assert makespan.solve(problem, time_limit=1.0).makespan <= 7.0


@pytest.mark.parametrize("seed", few(40, 2))
def test_no_bound_is_above_the_optimum(seed: int) -> None:
    """Without links between groups, the slowest one says when all end."""
    rng = np.random.default_rng([5, seed])
    sizes = rng.integers(2, 5, int(rng.integers(1, 4))).tolist()
    segments, count = int(rng.integers(1, 3)), sum(sizes)
    group = np.repeat(np.arange(len(sizes)), sizes)
    together = group[:, None] == group
    transfer = np.where(together, rng.integers(1, 9, (count, count)), np.inf)
    latency = np.where(together, rng.integers(0, 4, (count, count)), np.inf)
    reduce = rng.integers(0, 3, count).astype(float)
    if seed % 2:
        transfer, latency = np.where(together, 2.0, np.inf), np.where(together, 1.0, np.inf)
    ends = []
    for each in range(len(sizes)):
        rows = np.ix_(group == each, group == each)
        alone = Reduction(
            machines=sizes[each], segments=segments, collective="all-reduce",
            transfer=transfer[rows], latency=latency[rows], reduce=reduce[group == each],
        )  # fmt: skip
        plan = makespan.solve(alone, time_limit=1.0)
        found = optimum(alone, plan.makespan, seconds=20.0)
        assert found.makespan == found.bound
        ends.append(found.makespan)
    problem = in_groups(sizes, segments, transfer=transfer, latency=latency, reduce=reduce)
    assert 0 < best_bound(problem) <= max(ends) * (1 + 1e-9)


def test_who_alone_gets_all() -> None:
    """It need not give anything; nothing is due of a segment that is where it must be."""
    problem = Reduction(
        machines=3, segments=4, collective="custom", transfer=1.0, combine=True,
        before=[[1, 2, 3], [1, 2, 3], [2], [1, 3]], after=[[1], [1], [2], [1, 3]],
    )  # fmt: skip
    values = {bound.name: bound.value for bound in bounds(problem)}
    assert values["ports"] == pytest.approx(3.0)  # parts of two, and the whole of one, to M1
    assert values["growth"] == pytest.approx(2.0)
    assert best_bound(problem) <= makespan.solve(problem, time_limit=1.0).makespan
    least = Reduction(
        machines=2, segments=1, collective="custom", transfer=1.0, combine=True,
        before=[[2]], after=[[2]],
    )  # fmt: skip
    assert best_bound(least) == 0.0
