"""Halves of an all-reduce, and how time is spent on them while their loops aren't compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from makespan import Interconnect, Reduction
from makespan.core.control import Control
from makespan.core.numeric.jit import Loop
from makespan.core.solution import Solution
from makespan.reduction.bounding import one_segment  # the module
from makespan.reduction.bounds import bounds
from makespan.reduction.halves import merging, tree_packing
from makespan.reduction.halves.shortest_paths import shortest_paths
from makespan.reduction.heuristics.allreduce_edd import schedule_by_due_date
from makespan.reduction.heuristics.rarest_first import broadcast_rarest_first


@pytest.fixture
def problem() -> Reduction:
    network = Interconnect(6, topology="nodes", shape=(2, 3), rate=1.0, latency=0.25)
    return Reduction(machines=6, segments=6, network=network, collective="all-reduce")


@pytest.mark.parametrize("lacking", [True, False])
def test_a_loop_that_is_not_compiled_may_have_all_the_time_for_one_run(
    problem: Reduction, monkeypatch: pytest.MonkeyPatch, lacking: bool
) -> None:
    """Compiled, both halves get a share, and the loop runs as often as it can."""
    asked: list[tuple[float, dict[str, int]]] = []

    def spy(part: Reduction, control: Control, **budget: int) -> Solution:
        assert control.remaining is not None
        asked.append((control.remaining, budget))
        return shortest_paths(part, control)

    spy.applies = merging.rarest_first.applies  # type: ignore[attr-defined]
    monkeypatch.setattr(merging, "rarest_first", spy)
    monkeypatch.setattr(merging, "EXACT_UP_TO", 0)
    monkeypatch.setattr(merging, "SECONDS", 1000.0)
    lacks = {broadcast_rarest_first.plain: lacking}
    monkeypatch.setattr(Loop, "lacks", lambda self, size: lacks.get(self.plain, False))
    monkeypatch.setattr(tree_packing, "RUNS", 1)
    parts = merging._parts(problem, merging.DEALT)
    merging._alone(next(parts), Control(time_limit=1000.0), exact=True)
    whole = [(seconds > 900, budget) for seconds, budget in asked]
    one, shared = (True, merging.ONE_RUN), (False, {})
    assert whole == [one, one, shared, shared] if lacking else [shared, shared]


@pytest.mark.parametrize(("lacking", "back", "packed"), [(True, 1, 1), (True, 2, 2), (False, 1, 2)])
def test_no_packing_is_made_of_a_half_that_is_the_other_one_backwards(
    monkeypatch: pytest.MonkeyPatch, lacking: bool, back: int, packed: int
) -> None:
    """Where ways back take as long, while whole runs take long."""
    transfer = np.triu(np.full((5, 5), 2.0)) + back * np.tril(np.full((5, 5), 2.0), -1)
    transfer[0, 1] = transfer[1, 0] = 4.0
    problem = Reduction(machines=5, segments=5, transfer=transfer, collective="all-reduce")
    parts: list[Reduction] = []

    def spy(part: Reduction, control: Control) -> Solution:
        parts.append(part)
        return shortest_paths(part, control)

    spy.applies = tree_packing.tree_packing.applies  # type: ignore[attr-defined]
    monkeypatch.setattr(merging, "tree_packing", spy)
    monkeypatch.setattr(Loop, "lacks", lambda self, size: lacking)
    pair = next(merging._parts(problem, merging.DEALT))
    merging._alone(pair, Control(time_limit=1.0), exact=False)
    assert parts == [*pair][:packed]


def test_time_is_not_kept_for_a_search_whose_loop_is_not_compiled(
    problem: Reduction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would find nothing in it."""
    given = []
    known = merging.reduce_then_broadcast(problem, Control(time_limit=0.0))

    def planned(part: Reduction, control: Control, *_: Any) -> Solution:
        given.append(control.remaining)
        return known

    monkeypatch.setattr(merging, "_planned", planned)
    for lacking in (False, True):
        lacks = {schedule_by_due_date.plain: lacking}
        monkeypatch.setattr(Loop, "lacks", lambda self, size, some=lacks: some.get(self.plain))
        control = Control(time_limit=100.0)
        control.incumbent = known
        merging.reduce_scatter_all_gather(problem, control)
    assert given[0] < 60 < 90 < given[1]


def test_the_better_half_backwards_is_merged_first(problem: Reduction) -> None:
    """Where the time ends after the first merge, the plan is that of the better half."""
    reduced, spread = next(merging._parts(problem, merging.DEALT))
    control = Control()
    good = merging.rarest_first(reduced, control, **merging.ONE_RUN).schedule
    bad = shortest_paths(spread, control).schedule
    assert good is not None
    assert bad is not None
    assert good.makespan < bad.makespan
    first, *others = merging._broadcasts(spread, good, bad, control)
    same, *_ = merging._broadcasts(spread, good, None, control)
    assert np.array_equal(first[0], same[0])  # the reduction backwards
    assert sum(np.array_equal(first[0], copies) for copies, _ in others) == 0


def test_equal_times_there_and_back_are_bounded_once() -> None:
    """Groups of machines are looked at once for parts, for copies, and for the packing of both."""
    table = np.random.default_rng(2).integers(2, 17, (6, 6)).astype(float)
    problem = Reduction(machines=6, segments=3, transfer=table + table.T, collective="all-reduce")
    one_segment._to_all.cache_clear()
    bounds(problem)
    assert one_segment._to_all.cache_info().misses == 1
