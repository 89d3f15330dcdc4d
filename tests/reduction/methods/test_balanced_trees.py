"""Balanced trees: a tree each way for each segment, all ports alike, sends that start soon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import makespan
from makespan import Interconnect, Reduction
from makespan.core.control import Control
from makespan.core.errors import MethodError
from makespan.flow.kinds import generate
from makespan.reduction.bounding.packing import packing
from makespan.reduction.methods import balanced_trees
from tests.thorough import few


def problem_of(seed: int, *, most: int = 9) -> Reduction:
    """Return an all-reduce of machines whose links all differ, some with latencies and sizes."""
    rng = np.random.default_rng(seed)
    n, m = (int(count) for count in rng.integers(1, most, 2))
    given: dict[str, Any] = {"transfer": rng.integers(1, 17, (n, n)).astype(float)}
    if seed % 2:
        given["latency"] = rng.random((n, n)) * 4
    if seed % 3:
        given["reduce"] = rng.integers(0, 4, n).astype(float)
    if seed % 5 == 0:
        given["segment_sizes"] = rng.random(m) + 0.5
    if seed % 7 == 0 and n > 2:
        each = [
            (f"M{one + 1}", f"M{(one + 1) % n + 1}", float(rng.random()) + 1) for one in range(n)
        ]
        given = {"network": Interconnect(n, topology="links", links=each)}
    return Reduction(machines=n, segments=m, collective="all-reduce", **given)


@pytest.mark.parametrize("seed", few(42, 8))
def test_plans_are_valid_and_beat_no_bound(seed: int) -> None:
    """The referee, which every result passes, accepts them."""
    found = makespan.solve(problem_of(seed), method="balanced-trees", runs=1)
    assert found.makespan is not None
    assert found.lower_bound is not None
    assert found.makespan >= found.lower_bound * (1 - 1e-9)


def found_by(seed: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Return the inputs of both loops, with what they wrote, and a call of the second."""
    problem, calls = problem_of(seed, most=6), []
    plain = {name: getattr(balanced_trees, name).plain for name in ("balance", "send_along")}

    def noted(name: str) -> Any:
        def run(*arguments: Any) -> Any:
            value = plain[name](*arguments)
            calls.append((name, arguments, value))
            return value

        return type("Noted", (), {"at": staticmethod(lambda _: run)})

    for name in plain:
        monkeypatch.setattr(balanced_trees, name, noted(name))
    monkeypatch.setattr(balanced_trees, "ORDERS", 3)
    balanced_trees.balanced_trees(problem, Control(), runs=1)
    return problem, calls


@pytest.mark.parametrize("seed", few(30, 4))
def test_trees_lead_to_everybody_and_their_loads_are_counted(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the busiest port or unit has to do is added up send by send."""
    problem, calls = found_by(seed, monkeypatch)
    balanced = [call for call in calls if call[0] == "balance"]
    without = makespan.solve(problem, method="balanced-trees", runs=0)
    assert balanced or without.status == "optimal"  # there is nothing to look for
    for _, (latency, transfer, combine, size, parents, planned, *_), busiest in balanced:
        load = np.zeros((3, len(combine)))
        for half, segment in np.ndindex(parents.shape[:2]):
            above = parents[half, segment]
            assert (above < 0).sum() == 1
            here = np.arange(len(above))
            for _ in above:
                here = np.where(above[here] >= 0, above[here], here)
            assert (here == np.flatnonzero(above < 0)).all()
            for machine in np.flatnonzero(above >= 0):
                one, two = (machine, above[machine]) if half == 0 else (above[machine], machine)
                load[0, one] += transfer[one, two] * size[segment]
                load[1, two] += transfer[one, two] * size[segment]
                load[2, two] += combine[two] * size[segment] * (half == 0)
                takes = latency[one, two] + transfer[one, two] * size[segment]
                later = planned[half, segment, machine] - planned[half, segment, above[machine]]
                assert later >= takes - 1e-9
        assert load.max() == pytest.approx(busiest)


@pytest.mark.parametrize("seed", few(18, 3))
def test_compiled_loops_do_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit."""
    _, calls = found_by(seed, monkeypatch)
    monkeypatch.undo()
    for name, arguments, value in calls:
        again = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        if name == "balance":
            again[4][:], again[5][:] = -1, 0.0
        assert getattr(balanced_trees, name).compiled(*again) == value
        for one, other in zip(arguments, again, strict=True):
            np.testing.assert_array_equal(one, other)


def test_many_segments_take_as_long_as_the_busiest_port() -> None:
    """Of 40 segments, near the programme that packs trees; root or rotation end much later."""
    rng = np.random.default_rng(5)
    problem = Reduction(
        machines=8, segments=40, collective="all-reduce",
        transfer=rng.integers(2, 17, (8, 8)).astype(float),
    )  # fmt: skip
    packed = packing(problem)
    assert packed is not None
    found = makespan.solve(problem, method="balanced-trees", runs=2)
    dealt = makespan.solve(problem, method="reduce-scatter-all-gather", restarts=1)
    assert found.makespan is not None
    assert dealt.makespan is not None
    assert found.makespan < 1.3 * packed.seconds
    assert found.makespan < 0.9 * dealt.makespan


def test_a_stop_ends_both_loops() -> None:
    """Trees are there by then, sends are not."""
    rng = np.random.default_rng(2)
    transfer, nothing = rng.random((4, 4)) + 1, np.zeros(4)
    costs = np.zeros((4, 4)), transfer, nothing, np.ones(5)
    parents, stop = np.full((2, 5, 4), -1), np.ones(1, dtype=np.int64)
    planned = np.zeros(parents.shape)
    busiest = balanced_trees.balance.plain(
        *costs, parents, planned, 9.0, 1.0, 0.3, 10**9, 1, stop
    )  # fmt: skip
    assert busiest > 0
    rows = np.zeros((30, 4), dtype=np.int64)
    assert balanced_trees.send_along.plain(*costs, parents, planned, 0.1, rows, stop) == -1


def test_shared_links_are_left_to_others() -> None:
    """Trees are balanced over ports alone."""
    options = {"machines": 4, "segments": 12, "collective": "all-reduce", "network": "nodes"}
    problem = generate("reduction", options={**options, "devices": 2})
    with pytest.raises(MethodError, match="no shared links"):
        makespan.solve(problem, method="balanced-trees")
