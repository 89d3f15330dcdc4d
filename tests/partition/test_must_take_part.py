"""Resources without a count of 0 take part, and the results say so."""

import numpy as np

from makespan import Affine, Partition, solve

MUST = "no cost for 0 tasks"


def test_resources_without_a_count_of_0_are_named() -> None:
    """Those whose measured counts begin at 1, however they are given; the others are not."""
    rows = {"A": {1: 1.0, 2: 2.0}, "B": {0: 0.0, 2: 1.0}, "C": [0.0, 5.0, 6.0]}
    result = solve(Partition(tasks=3, costs=rows))
    assert result.answer["counts"]["A"] > 0
    assert [note for note in result.notes if MUST in note] == [
        "A has no cost for 0 tasks: it takes at least 1; a cost for 0 lets it idle"
    ]
    one = solve(Partition(tasks=4, costs=[[1.0, 2.0, 3.0]] * 5, first=1))
    assert one.status == "infeasible"
    assert any(
        note.startswith("R1, R2, R3 and 2 more have no cost for 0 tasks") for note in one.notes
    )


def test_nobody_is_named_who_may_be_left_out_or_has_a_lower_limit() -> None:
    """A limit that the problem gives needs no word, nor does a problem without tasks."""
    free = np.arange(4.0)
    for problem in (
        Partition(tasks=3, costs=[free, free]),
        Partition(tasks=3, costs=[Affine(1.0, 1.0), free]),
        Partition(tasks=3, costs=[free, free], lower=[1, 0]),
        Partition(tasks=3, costs=[lambda count: 2.0 * count, free]),
    ):
        assert not any(MUST in note for note in solve(problem).notes)
