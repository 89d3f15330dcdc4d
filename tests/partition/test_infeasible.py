"""Infeasible problems say why."""

from __future__ import annotations

from math import inf

import pytest

from makespan import Partition, solve

EVEN = dict.fromkeys(range(0, 40, 2), 1.0)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("method", ["threshold", "dynamic-programming"])
@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (
            {"tasks": 1, "costs": [[0.0, 1.0], [inf, inf]]},
            "'R2' has no allowed count up to 1",
        ),
        (
            {"tasks": 3, "costs": [[0.0] * 5] * 2, "lower": 2},
            "the least allowed counts add up to 4, above the 3 tasks",
        ),
        (
            {"tasks": 9, "costs": [[0.0] * 5] * 2},
            "the greatest allowed counts add up to 8, below the 9 tasks",
        ),
        (
            {"tasks": 7, "costs": [EVEN, EVEN]},
            "the allowed counts add up only to multiples of 2, which 7 is not; the nearest totals "
            "that can be reached are 6 and 8",
        ),
        (
            {"tasks": 8, "costs": [EVEN, {3: 1.0, 7: 1.0}]},
            "the allowed counts add up only to multiples of 2 plus 1, which 8 is not; the nearest "
            "totals that can be reached are 7 and 9",
        ),
        (
            {"tasks": 8, "costs": [{0: 0.0, 5: 1.0, 12: 3.0}, {0: 0.0, 6: 1.0}]},
            "no allowed counts add up to 8; the nearest totals that can be reached are 6 and 11",
        ),
        (
            {"tasks": 2, "costs": [[0.0, 4.0, 5.0]] * 2, "deadline": 3.0},
            "the least makespan is 4.0, above the deadline 3.0",
        ),
        (
            {"tasks": 2, "costs": [[0.0, 4.0, 5.0], [4.0, 4.0, 5.0]], "deadline": 3.0},
            "'R2' takes at least 4.0, above the deadline 3.0",
        ),
    ],
)
def test_the_reason_is_the_first_note(parts, reason, method):
    """Limits, granularity, reachable totals, deadlines."""
    result = solve(Partition(**parts), method=method)
    assert (result.status, result.schedule, result.makespan) == ("infeasible", None, None)
    assert result.notes[0] == reason


def test_no_tasks_few_tasks_one_resource():
    """What the paper assumes away: no tasks, fewer tasks than resources, one resource."""
    assert solve(Partition(tasks=0, costs=[[3.5], [0.0]])).makespan == 3.5
    assert solve(Partition(tasks=1, costs=[[0.0, 5.0], [0.0, 3.0], [0.0, 4.0]])).makespan == 3.0
    assert solve(Partition(tasks=3, costs=[[0.0, 9.0, 4.0, 7.0]])).makespan == 7.0
