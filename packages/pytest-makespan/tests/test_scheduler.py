"""The scheduler with workers that are made up, beside the best order and plain lists."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from workers import Run


def names(count: int) -> list[str]:
    return [f"tests/test_{index // 20}.py::test_{index}" for index in range(count)]


def best(seconds: Sequence[float], workers: int) -> float:
    """The least makespan, by trying every way to deal tests out."""
    ways = itertools.product(range(workers), repeat=len(seconds))
    return min(
        max(sum(s for s, w in zip(seconds, way, strict=True) if w == each) for each in way)
        for way in ways
    )


def longest_first(seconds: Sequence[float], workers: int) -> float:
    ends = [0.0] * workers
    for each in sorted(seconds, reverse=True):
        ends[ends.index(min(ends))] += each
    return max(ends)


def drawn(seed: int, count: int) -> list[float]:
    rng = random.Random(seed)
    return [round(rng.lognormvariate(-1.5, 1.5), 4) for _ in range(count)]


@pytest.mark.parametrize("seed", range(12))
def test_small_suites_end_near_the_best(seed: int) -> None:
    """Durations are known: within Graham's bound of longest first, and a moment."""
    seconds, workers = drawn(seed, 7), 2 + seed % 2
    run = Run(names(7), seconds, workers, dict(zip(names(7), seconds, strict=True)))
    end = run.go()
    assert run.ran == list(range(7))
    assert run.scheduler.tests_finished
    assert not run.scheduler.has_pending
    least = best(seconds, workers)
    assert least - 1e-9 <= end <= least * (4 / 3 - 1 / 3 / workers) + 0.1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("workers", [1, 2, 4, 16])
def test_large_suites_end_as_longest_first(seed: int, workers: int) -> None:
    """Although a worker must know its next test, little is lost against lists without that."""
    seconds = drawn(seed, 260)
    run = Run(names(260), seconds, workers, dict(zip(names(260), seconds, strict=True)))
    end = run.go()
    assert run.ran == list(range(260))
    assert end <= longest_first(seconds, workers) * 1.02 + 0.05


@pytest.mark.parametrize("seed", range(6))
def test_nothing_long_waits_behind_what_is_long(seed: int) -> None:
    """While there are short tests."""
    seconds = [1.0 + index / 100 for index in range(20)] + [0.001] * 60
    random.Random(seed).shuffle(seconds)
    run = Run(names(80), seconds, 4, dict(zip(names(80), seconds, strict=True)))
    run.begin()
    going = True
    while going and len(run.scheduler.pool) > 16:
        for node in run.nodes:
            long = [seconds[test] > 0.5 for test in node.queue]
            assert not any(first and second for first, second in itertools.pairwise(long))
            assert sum(long) <= 1
        going = run.step()
    run.go()
    assert run.ran == list(range(80))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("workers", [1, 3, 4, 9])
def test_a_first_run_runs_each_test_once(seed: int, workers: int) -> None:
    """Nothing is known; neighbours stay together at the beginning."""
    seconds = drawn(seed, 150)
    run = Run(names(150), seconds, workers)
    run.begin()
    firsts = [node.sent[0][0] for node in run.nodes]
    assert len(set(firsts)) == workers
    assert all(node.queue == list(range(node.queue[0], node.queue[-1] + 1)) for node in run.nodes)
    end = run.go()
    assert run.ran == list(range(150))
    assert end <= sum(seconds) / workers + 3 * max(seconds)


@pytest.mark.parametrize("count", range(8))
def test_fewer_tests_than_workers_need(count: int) -> None:
    """No worker waits for a next test that never comes."""
    for workers in (1, 2, 4):
        for known in (None, dict.fromkeys(names(count), 1.0)):
            run = Run(names(count), [1.0] * count, workers, known)
            end = run.go()
            assert run.ran == list(range(count))
            assert end == pytest.approx(-(-count // workers))
            assert run.scheduler.tests_finished


@pytest.mark.parametrize("seed", range(8))
def test_durations_that_are_off(seed: int) -> None:
    """What is known is of another suite: still each once, and no worse than lists can be."""
    seconds, wrong = drawn(seed, 120), drawn(seed + 100, 120)
    run = Run(names(120), seconds, 4, dict(zip(names(120), wrong, strict=True)))
    end = run.go()
    assert run.ran == list(range(120))
    assert end <= sum(seconds) / 4 + 2 * max(seconds)


def test_a_new_test_with_long_siblings_comes_early() -> None:
    """Its other parameters took long."""
    tests = [*names(100), "a.py::test_long[1]", "a.py::test_long[2]"]
    known = dict.fromkeys(names(100), 0.1) | {"a.py::test_long[1]": 5.0}
    run = Run(tests, [0.1] * 100 + [5.0, 5.0], 2, known)
    run.begin()
    assert {node.sent[0][0] for node in run.nodes} == {100, 101}


@pytest.mark.parametrize("seed", range(10))
def test_a_crash_gives_tests_back(seed: int) -> None:
    """The test that was running is named; all others run, some on the worker that came."""
    rng = random.Random(seed)
    seconds = drawn(seed, 60)
    groups = dict.fromkeys(names(60)[10:20], "group")
    known = dict(zip(names(60), seconds, strict=True)) if seed % 2 else None
    run = Run(names(60), seconds, 3, known, groups=groups)
    run.begin()
    done: list[int] = []
    for _ in range(3):
        for _ in range(rng.randrange(12)):
            run.step()
        busy = [node for node in run.nodes if node.queue]
        if busy:
            victim = rng.choice(busy)
            done += victim.ran
            running = victim.queue[0]
            run.crash(victim)
            assert run.crashed[-1] == names(60)[running]
    run.go()
    lost = [names(60).index(name) for name in run.crashed]
    assert sorted([*run.ran, *done, *lost]) == list(range(60))


def test_a_crashed_test_may_be_asked_for_again() -> None:
    """As plugins that run tests again do."""
    run = Run(names(6), [1.0] * 6, 2)
    run.begin()
    run.crash(run.nodes[0])
    run.scheduler.mark_test_pending(run.crashed[0])
    run.go()
    assert run.ran == list(range(6))


def test_workers_with_other_tests_are_reported() -> None:
    """At the beginning as xdist does; later, such a worker runs nothing."""
    run = Run(names(4), [1.0] * 4, 2)
    run.scheduler.node2collection[run.nodes[1]] = names(3)
    run.scheduler.schedule()
    assert [report.outcome for report in run.config.reports] == ["failed"]
    assert run.scheduler.tests_finished
    run = Run(names(4), [1.0] * 4, 2)
    run.begin()
    late = run.add("gw2", names(3))
    assert late.shutting_down
    run.go()
    assert run.ran == list(range(4))


@pytest.mark.parametrize("known", [None, dict.fromkeys(names(60), 0.3)])
@pytest.mark.parametrize(("scope", "size"), [("module", 20), ("class", 20), ("group", 1)])
def test_scopes_stay_together(known: dict[str, float] | None, scope: str, size: int) -> None:
    """A module on one worker, one test after another; a group over modules always."""
    groups = {names(60)[index]: "g" for index in (3, 33)}
    run = Run(names(60), drawn(1, 60), 2, known, scope=scope, groups=groups)
    run.go()
    assert run.ran == list(range(60))
    for node in run.nodes:
        assert (3 in node.ran) == (33 in node.ran)
        files = [test // 20 for test in node.ran if test not in (3, 33)]
        if size > 1:
            changes = [key for key, _ in itertools.groupby(files)]
            assert len(changes) == len(set(changes))
    if size > 1:
        where = [{test // 20 for test in node.ran if test not in (3, 33)} for node in run.nodes]
        assert not where[0] & where[1]


def test_a_fixture_of_a_module_is_made_few_times() -> None:
    """Its tests come one after another, so that it stays."""
    tests = names(200)
    seconds = [0.05] * 200
    made = "module tests/test_3.py::server"
    uses = {test: [made] for test in tests[60:80]}
    known = dict(zip(tests, seconds, strict=True))
    run = Run(tests, seconds, 4, known, fixtures={made: 1.0}, uses=uses)
    end = run.go()
    times = 0
    for node in run.nodes:
        mine = [tests[test] in uses for test in node.ran]
        times += sum(key for key, _ in itertools.groupby(mine))
    assert run.ran == list(range(200))
    assert times == 1  # a second one would take more than it saves
    assert end <= (200 * 0.05 + 1.0) / 4 * 1.1


def test_a_fixture_of_the_session_is_made_where_it_pays() -> None:
    """A few tests of a costly one stay on one worker; where most need it, each makes it."""
    tests, made = names(100), "session ::database"
    for users, workers in ((10, 1), (100, 4)):
        uses = {test: [made] for test in tests[:users]}
        known = dict.fromkeys(tests, 0.5)
        run = Run(tests, [0.5] * 100, 4, known, fixtures={made: 2.0}, uses=uses)
        end = run.go()
        having = [node for node in run.nodes if any(test < users for test in node.ran)]
        assert run.ran == list(range(100))
        assert len(having) == workers
        assert end <= (50 + workers * 2.0) / 4 + 1.0
