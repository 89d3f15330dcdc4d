"""Groups that share a network: each is planned alone, and what they do is done at once."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from makespan import Interconnect, MethodError, Reduction, check, solve
from makespan.core.schedule import Activity
from tests.thorough import few


def in_groups(
    lists: list[list[int]], segments: int, *, combine: bool = True, machines: int, **costs: Any
) -> Reduction:
    """Return a problem in which each group combines, or gathers, segments of its own."""
    after = [each for each in lists for _ in range(segments)]
    held = [[each[place % len(each)]] for each in lists for place in range(segments)]
    return Reduction(
        machines=machines, segments=len(after), collective="custom", combine=combine,
        before=after if combine else held, after=after, **costs,
    )  # fmt: skip


def random_groups(seed: int) -> Reduction:
    """Return groups of unlike machines, whose segments come in any order, and a machine in none."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(6, 10))
    machines = rng.permutation(np.arange(1, count)) + 1  # but the first one
    cuts = np.sort(rng.choice(np.arange(2, count - 2), 1 + seed % 2, replace=False))
    groups = [part.tolist() for part in np.split(machines, cuts) if len(part)]
    owners = rng.permutation(np.repeat(np.arange(len(groups)), 3))
    after = [groups[owner] for owner in owners]
    combine = bool(seed % 2)
    return Reduction(
        machines=count, segments=len(owners), collective="custom", combine=combine,
        before=after if combine else [[each[0]] for each in after], after=after,
        transfer=rng.integers(1, 9, (count, count)).astype(float),
        latency=rng.integers(0, 3, (count, count)).astype(float),
        reduce=rng.integers(0, 3, count).astype(float),
        segment_sizes=rng.integers(1, 4, len(owners)) / 2 if seed % 3 == 0 else None,
    )  # fmt: skip


@pytest.mark.parametrize("seed", few(40, 6))
def test_plans_are_valid_and_no_group_is_helped(seed: int) -> None:
    problem = random_groups(seed)
    result = solve(problem, method="process-groups", time_limit=0.3)
    assert check(result).ok
    assert result.makespan is not None
    assert result.makespan >= (result.lower_bound or 0)
    assert result.schedule is not None
    sends = result.schedule.rows_of(Activity.SEND)
    assert len(sends)
    members = [set(each) for each in problem.after]
    for row in sends.tolist():
        ends = {int(result.schedule.machine[row]) + 1, int(result.schedule.peer[row]) + 1}
        assert ends <= members[int(result.schedule.item[row])]


def test_groups_across_two_racks_end_as_one_of_them_does() -> None:
    """All groups are alike, and no link is shared: one plan serves them all."""
    rack = np.arange(16) // 8
    transfer = np.where(rack[:, None] == rack, 1.0, 6.0)
    lists = [[1 + group, 5 + group, 9 + group, 13 + group] for group in range(4)]
    problem = in_groups(lists, 4, machines=16, transfer=transfer)
    own = np.array(lists[0]) - 1
    alone = Reduction(
        machines=4, segments=4, collective="all-reduce", transfer=transfer[np.ix_(own, own)]
    )
    together = solve(problem, method="process-groups", time_limit=2.0)
    one = solve(alone, time_limit=2.0)
    assert one.status == "optimal"
    assert together.makespan == one.makespan
    assert (solve(problem, time_limit=1.0).makespan or 0) <= together.makespan


def test_parts_are_told_and_logged_by_nobody() -> None:
    """Progress and steps are those of the whole problem."""
    problem = in_groups([[1, 2], [3, 4, 5]], 2, machines=5, transfer=1.0, latency=0.5)
    told: list[float | None] = []
    result = solve(
        problem, method="process-groups", log=True, progress=lambda value, *_: told.append(value)
    )
    assert told == []
    assert result.schedule is not None
    assert len(result.log) == len(result.schedule.rows_of(Activity.SEND)) == 12


@pytest.mark.parametrize("name", ["all-reduce", "all-gather", "broadcast"])
def test_groups_are_planned_under_their_usual_names(name: str) -> None:
    """So what is known of them holds: a plan of equal machines meets the bound of one group."""
    lists = [[1, 3, 5, 7], [2, 4, 6, 8]]
    held = {"all-gather": [[each[k]] for each in lists for k in range(4)]}
    ends = [each for each in lists for _ in range(4)]
    before = held.get(name, ends if name == "all-reduce" else [each[:1] for each in ends])
    problem = Reduction(
        machines=8, segments=8, collective="custom", combine=name == "all-reduce",
        before=before, after=ends, transfer=1.0, latency=0.25,
    )  # fmt: skip
    own: Any = name
    alone = Reduction(machines=4, segments=4, collective=own, transfer=1.0, latency=0.25)
    one = solve(alone, time_limit=2.0)
    assert one.status == "optimal"
    assert solve(problem, method="process-groups", time_limit=2.0).makespan == one.makespan


def test_what_is_not_apart_is_refused() -> None:
    """One group, the usual collectives, and networks, whose links may be shared."""
    ends = [[1, 2], [3, 4]]
    given: dict[str, Any] = {"collective": "custom", "segments": 2, "before": ends, "after": ends}
    network = Interconnect(4, topology="ring")
    missing = [
        [0.0, 1.0, 1.0, 1.0],
        [1.0, 0.0, 1.0, 1.0],
        [1.0, 1.0, 0.0, 1.0],
        [1.0, 1.0, inf, 0.0],
    ]
    shared = "needs groups that share no segment, but they do"
    for problem, why in (
        (
            in_groups([[1, 2, 3, 4]], 2, machines=4, transfer=1.0),
            shared,
        ),
        (
            in_groups([[1, 2], [2, 3, 4]], 2, machines=4, transfer=1.0),
            shared,
        ),
        (Reduction(machines=4, segments=2, transfer=1.0), "collective is 'reduce'"),
        (Reduction(network=network, combine=True, **given), "needs no network, but one is given"),
        (Reduction(machines=4, combine=True, transfer=missing, **given), "links between all"),
    ):
        with pytest.raises(MethodError, match=why):
            solve(problem, method="process-groups")
