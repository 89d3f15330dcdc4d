"""What becomes of a run, to the millisecond: on a virtual clock (``virtual.py``)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from makespan.execute.dealing.costs import Costs
from makespan.execute.dealing.pool import MAX_LOSSES
from makespan.execute.dealing.run import Run
from tests.execute.dealing.engine import InProcess
from tests.execute.dealing.virtual import Sleeps, client_map, dealt


def lognormal(count: int, sigma: float, seconds: float) -> list[float]:
    drawn = np.random.default_rng(0).lognormal(0.0, sigma, count)
    return [float(each) for each in drawn / drawn.sum() * seconds]


def growing(seconds: float = 8.0) -> list[float]:
    each = np.linspace(0.0, 1.0, 400) ** 2
    return [float(one) for one in each / each.sum() * seconds]


CASES = {
    "long ones last": (4, 1, [0.005] * 400 + [0.5] * 12),
    "long ones last, four threads": (4, 4, [0.005] * 1600 + [0.5] * 48),
    "a few long ones after very short ones": (4, 1, [0.001] * 2000 + [0.5] * 8),
    "one long in the middle": (4, 1, [0.002] * 500 + [2.0] + [0.002] * 499),
    "lognormal": (4, 1, lognormal(400, 1.5, 8.0)),
    "lognormal, four threads": (2, 4, lognormal(400, 1.5, 16.0)),
    "growing": (4, 1, growing()),
    "shrinking": (4, 1, growing()[::-1]),
    "equal": (4, 1, [0.01] * 800),
    "five long ones": (4, 1, [1.0] * 5),
}


def values_of(run: Run) -> list[int | None]:
    return [value for low in sorted(run.pieces) for value in run.pieces[low]]


@pytest.mark.parametrize("name", CASES)
def test_it_takes_no_longer_than_client_map(name: str) -> None:
    """At first and later, and each item is done once."""
    workers, threads, durations = CASES[name]
    expected = client_map(durations, workers * threads)
    costs = Costs()
    for _ in range(2):
        engine = InProcess(workers, threads)
        run, seconds = dealt(engine, Sleeps(durations), range(len(durations)), costs)
        assert values_of(run) == sorted(engine.calls) == list(range(len(durations)))
        assert seconds <= 1.05 * expected


@pytest.mark.parametrize("count", [8, 12, 20, 40])
def test_few_short_items(count: int) -> None:
    """What sending them costs is not measured apart, and of eight each worker gets its share."""
    costs = Costs()
    for _ in range(2):
        run, seconds = dealt(InProcess(4), Sleeps([0.01] * count), range(count), costs)
        assert seconds <= 1.15 * client_map([0.01] * count, 4)
        assert count > 8 or len(run.record.schedule().words()) == 3 * 4


def test_many_loads() -> None:
    """In the middle of many random ones it takes as long, of few much longer."""
    ratios = []
    generator = np.random.default_rng(3)
    for _ in range(12):
        workers, threads = int(generator.integers(1, 7)), int(generator.choice([1, 2, 4]))
        drawn = generator.choice(
            [1.0, 10.0, 100.0], int(generator.integers(20, 400)), p=[0.8, 0.15, 0.05]
        )
        durations = [float(one) for one in drawn / drawn.sum() * 2.0 * workers * threads]
        engine = InProcess(workers, threads)
        run, seconds = dealt(engine, Sleeps(durations), range(len(durations)))
        assert values_of(run) == sorted(engine.calls)
        ratios.append(seconds / client_map(durations, workers * threads))
    assert np.median(ratios) <= 1.03
    assert np.mean(ratios) <= 1.06


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("culprits", [[77], [0, 150, 299]])
def test_who_kills_is_found(threads: int, culprits: list[int]) -> None:
    """An item that kills its workers fails alone, after as many deaths as may be."""
    engine = InProcess(3, threads)
    run, _ = dealt(engine, Sleeps([0.01] * 300, lambda item: item in culprits), range(300))
    assert [
        failure.first for failure in sorted(run.failures, key=lambda one: one.first)
    ] == culprits
    assert all(failure.first == failure.last for failure in run.failures)
    assert values_of(run) == [None if item in culprits else item for item in range(300)]
    assert max(Counter(engine.calls)[item] for item in culprits) <= MAX_LOSSES + 5


def test_who_dies_by_itself_costs_nobody() -> None:
    """All is done; what died with it is done again, and little else."""
    died: list[int] = []

    def once(item: int) -> bool:
        if item in (40, 90, 140) and item not in died:
            died.append(item)
            return True
        return False

    engine = InProcess(3)
    run, seconds = dealt(engine, Sleeps([0.01] * 300, once), range(300))
    assert len(engine.deaths) == 3
    assert run.failures == []
    assert values_of(run) == list(range(300))
    assert seconds < 2.6  # of 1.0; each death takes a worker away for 1.1


def test_who_is_sent_away_is_not_blamed() -> None:
    """Its items go to others, in chunks as ever."""
    engine = InProcess(3)
    run, _ = dealt(engine, Sleeps([0.01] * 300), range(300), later=(0.3, engine.retire, "1"))
    assert values_of(run) == list(range(300))
    assert "was retired" in run.events[0]
    assert not run.suspects
    assert len(engine.calls) < 340


def test_who_waits_for_futures_is_not_late() -> None:
    """Others would wait for the same ones."""
    engine = InProcess(3)
    engine.there = lambda first: 30.0 if first > 297 else 0.0  # type: ignore[method-assign]
    run, took = dealt(engine, Sleeps([0.01] * 300), range(300))
    assert 30.0 < took < 31.0
    assert not any("late" in event for event in run.events)
    assert sorted(engine.calls) == [*range(300)]


def test_nobody_is_blamed_who_waits_for_futures() -> None:
    """What was never sent kills no worker."""
    engine = InProcess(1)
    engine.there = lambda first: 2.0  # type: ignore[method-assign]
    later = 1.0, engine.die, "0"
    run, _ = dealt(engine, Sleeps([0.01] * 9), range(9), later=later)
    assert not run.suspects._who
    assert sorted(engine.calls) == [*range(9)]
