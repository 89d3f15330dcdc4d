"""Timing: plans that are called earliest are, and the compiled loops do what the plain ones do."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest

from makespan import Reduction, check, solve
from makespan.core.control import Control
from makespan.core.errors import TooLarge
from makespan.core.registry import applicability, find_method
from makespan.reduction import timing
from makespan.reduction.generate import generate
from makespan.reduction.sends import SendCosts, Sends
from tests.thorough import few

ONE_PORT = Reduction(machines=2, segments=1, transfer=1)
METHODS = ("chain", "two-tree", "rarest-first", "k-nomial", "backfilling", "reduce-then-broadcast")


def _random(rng: np.random.Generator, collective: str) -> Reduction:
    machines, segments = rng.integers(2, 9, 2)
    if rng.random() < 0.5:
        return generate(
            rng, machines=machines, segments=segments, collective=collective, spread=0.5
        )
    latency, transfer, reduce = rng.choice([0.0, 0.5, 1.0, 3.0], 3)
    return Reduction(
        machines=int(machines), segments=int(segments), collective=collective,
        latency=latency, transfer=transfer, reduce=reduce,
    )  # fmt: skip


@pytest.mark.parametrize("collective", ["reduce", "broadcast", "all-reduce"])
@pytest.mark.parametrize("seed", few(8, 1))
def test_what_is_called_earliest_is(seed, collective):
    """Timing a method's plan anew makes it end no earlier, and the referee accepts it as it is."""
    rng = np.random.default_rng(seed)
    problem = _random(rng, collective)
    for name in METHODS:
        method = find_method("reduction", name)
        if applicability(method, problem).applies:
            schedule = method.run(problem, Control(time_limit=0.1)).schedule
            assert schedule.earliest
            assert check(problem, schedule).ok
            assert timing.retimed(problem, schedule).makespan == pytest.approx(schedule.makespan)


@pytest.mark.usefixtures("form")
def test_what_sends_wait_for():
    """Each waits for the last one before it on each port, and that brought its segment."""
    rng = np.random.default_rng(0)
    sender, receiver, segment = rng.integers(0, 5, (3, 60))
    final, arrivals = rng.random(60) < 0.5, rng.permutation(60)
    sends = Sends(sender=sender, receiver=receiver, segment=segment, final=final)
    none = np.zeros((60, 0), dtype=np.int64)
    costs = SendCosts(*np.zeros((3, 60)), none, none, None)
    before = timing._predecessors(ONE_PORT, sends, costs, arrivals, none)
    turn = np.argsort(arrivals)

    def last(rows, key):
        return max(rows, key=key, default=-1)

    for row in range(60):
        sent = [other for other in range(row) if sender[other] == sender[row]]
        taken = [
            other
            for other in range(60)
            if receiver[other] == receiver[row] and turn[other] < turn[row]
        ]
        got = (receiver == sender[row]) & (segment == segment[row]) & final
        complete = final[row] and got.any()
        bringing = [
            other
            for other in range(60)
            if receiver[other] == sender[row]
            and segment[other] == segment[row]
            and final[other] == complete
        ]
        assert before.sending[row] == last(sent, int)
        assert before.receiving[row] == last(taken, turn.__getitem__)
        assert before.bringing[row] == last(bringing, turn.__getitem__)
        if not final[row]:
            united = [other for other in taken if not final[other]]
            assert before.combining[row] == last(united, turn.__getitem__)


def test_nothing_waits_where_nothing_is_sent():
    """Without sends there is nothing to find."""
    empty = np.zeros(0, dtype=np.int64)
    sends = Sends(sender=empty, receiver=empty, segment=empty, final=empty.astype(bool))
    links = np.empty((0, 0), dtype=np.int64)
    costs = SendCosts(empty, empty, empty, links, links, None)
    before = timing._predecessors(ONE_PORT, sends, costs, empty, links)
    assert all(len(column) == 0 for column in before)


@pytest.mark.parametrize("times", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.0, 1.0, 0.0)])
def test_an_all_reduce_is_planned_when_the_time_is_up(times):
    """The reduction that is there is run backwards; both are checked as any plan is."""
    latency, transfer, reduce = times
    problem = Reduction(
        machines=9, segments=8, collective="all-reduce",
        latency=latency, transfer=transfer, reduce=reduce,
    )  # fmt: skip
    result = solve(problem, time_limit=0.0)
    assert result.schedule is not None
    assert check(result).ok


def test_time_is_left_for_the_check():
    """Methods end the earlier, the more sends there are to be checked after them."""
    sizes = {"machines": 100, "latency": 1.0, "transfer": 1.0, "reduce": 1.0}
    one_way = Reduction(segments=10_000, **sizes)
    both_ways = Reduction(segments=10_000, collective="all-reduce", **sizes)
    assert (
        0.1
        < timing.postprocessing_seconds(one_way)
        < timing.postprocessing_seconds(both_ways)
        < 2.0
    )


@pytest.mark.usefixtures("form")
def test_rows_come_behind_those_they_wait_for():
    """Each row is written once, and where nothing waits for itself behind all it waits for."""
    rng = np.random.default_rng(1)
    place = rng.permutation(200)
    waits = [np.full(200, -1) for _ in timing.Before._fields]
    for column in waits:
        for row in range(200):
            earlier = np.flatnonzero(place < place[row])
            if len(earlier) and rng.random() < 0.7:
                column[row] = rng.choice(earlier)
    order = np.zeros(200, dtype=np.int64)
    path, met = np.zeros_like(order), np.zeros(200, dtype=np.int8)
    links, earlier = np.column_stack(waits[4:6]), waits.pop()
    given = (*waits[:4], links, earlier)
    timing.behind_the_waited_for.run(200, given, (order, path, met), (2,))
    assert sorted(order.tolist()) == list(range(200))
    turn = np.argsort(order)
    before = timing.Before(*waits, earlier)
    for column in (*waits, *before.all_bringing()):
        assert (turn[column] < turn)[column >= 0].all()


@pytest.mark.usefixtures("form")
def test_rows_that_wait_for_later_ones_settle_in_few_passes(monkeypatch):
    """They took a pass each, 25 of the two million sends of an all-reduce."""
    for name, most in (("PLAIN_PASSES", 3), ("MIN_PASSES", 4), ("ROWS_IN_ALL", 0)):
        monkeypatch.setattr(timing, name, most)
    count = 50
    none, following = np.full(count, -1), np.append(np.arange(1, count), -1)
    ones = np.ones(count, dtype=np.int64)
    links = np.zeros((count, 0), dtype=np.int64)
    costs = SendCosts(0 * ones, ones, 0 * ones, links, links, Fraction(1))
    before = timing.Before(following, none, none, none, links, links, none[:0])
    settled = timing._settle(before, costs)
    assert settled is not None
    assert settled[0].tolist() == list(range(count))[::-1]


@pytest.mark.parametrize(("order", "method"), [("greedy", "auto"), ("free", "chain")])
def test_what_takes_longer_than_the_limit_is_refused_before_it_begins(
    order: str, method: str
) -> None:
    """At once, with the seconds that would do; just as large a problem with a longer limit runs."""
    problem = Reduction(machines=5, segments=700_000, order=order, latency=1.0, transfer=1.0)
    limit = 0.8
    assert timing.minimum_seconds(problem) > 1.2 * limit + 0.5
    begun = time.process_time()
    with pytest.raises(TooLarge, match=r"time_limit: 0\.8 s is too short.*limit of \d s would do"):
        solve(problem, method=method, time_limit=limit)
    assert time.process_time() - begun < 0.2
    small = Reduction(machines=5, segments=7_000, order=order, latency=1.0, transfer=1.0)
    assert solve(small, method=method, time_limit=0.0).schedule is not None
