"""Rounds with clients that are slow, late, broken, new or gone, on a clock that jumps."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeClient, FakeGrid, fed_avg, run
from flwr.serverapp.strategy import FedAvg
from makespan_flower import MakespanStrategy

from makespan import Affine

SPEEDS = range(1, 11)


def throttled() -> list[FakeClient]:
    return [FakeClient(0.01 / speed, joules=0.1 * speed) for speed in SPEEDS]


@pytest.mark.parametrize("key", [None, "took"])
def test_rounds_after_the_first_take_the_least_time(
    monkeypatch: pytest.MonkeyPatch, key: str | None
) -> None:
    """Ten clients of speeds 1 to 10, timed by the server or by themselves."""
    grid = FakeGrid(throttled(), monkeypatch)
    strategy = MakespanStrategy(fed_avg(10), 1100, batch=10, seconds_key=key)
    run(strategy, grid, 4)
    first, *later = strategy.history
    assert set(first.shares.values()) == {110}
    assert first.planned is None
    for each in later:
        shares = [each.shares[node] for node in grid.clients]
        assert shares == pytest.approx([20 * speed for speed in SPEEDS], abs=0 if key else 20)
        assert each.seconds == pytest.approx(0.2, rel=0.2)
        assert each.samples == 1100
    assert strategy.least_seconds() == pytest.approx(4 * 0.2, rel=0.2)


def test_models_are_weighted_by_the_samples_that_clients_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As FedAvg does: a client with three times the samples counts three times."""
    grid = FakeGrid([FakeClient(0.03, value=0.0), FakeClient(0.01, value=1.0)], monkeypatch)
    strategy = MakespanStrategy(fed_avg(2), 400)
    assert run(strategy, grid, 1).arrays["w"].numpy() == pytest.approx([0.5, 0.5])
    assert run(strategy, grid, 1).arrays["w"].numpy() == pytest.approx([0.75, 0.75], abs=0.01)


def test_fast_clients_get_all_of_an_expensive_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stated costs are used from the first round; a client that costs too much gets no message."""
    clients = [FakeClient(0.01, fixed=50.0), FakeClient(0.01), FakeClient(0.02)]
    grid = FakeGrid(clients, monkeypatch)
    seconds = {node: Affine(each.fixed, each.each) for node, each in grid.clients.items()}
    strategy = MakespanStrategy(fed_avg(3), 300, seconds=seconds)
    run(strategy, grid, 2)
    assert [sum(each.asked) for each in clients] == [0, 400, 200]
    assert strategy.history[0].planned is not None


@pytest.mark.parametrize("budget", [400.0, 1500.0, 2400.0])
def test_an_energy_budget_is_kept(monkeypatch: pytest.MonkeyPatch, budget: float) -> None:
    """Over all rounds, and used up to the energy of a batch; less energy takes longer."""
    grid = FakeGrid(throttled(), monkeypatch)
    strategy = MakespanStrategy(
        fed_avg(10),
        1100,
        batch=10,
        seconds={node: Affine(0.0, each.each) for node, each in grid.clients.items()},
        energy={node: Affine(0.0, each.joules) for node, each in grid.clients.items()},
        energy_key="joules",
        budget=budget,
    )
    run(strategy, grid, 5)
    assert budget - 12.0 <= strategy.spent <= budget
    assert strategy.spent == pytest.approx(sum(each.energy for each in strategy.history))
    took = sum(each.planned.seconds for each in strategy.history if each.planned)
    if budget == 400.0:
        assert strategy.least_seconds() == np.inf, "not all samples can be paid for"
        assert all(0 < each.samples < 1100 for each in strategy.history)
    else:
        assert all(each.samples == 1100 for each in strategy.history)
        assert strategy.least_seconds() <= took <= 1.05 * strategy.least_seconds()


def test_the_least_energy_by_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow clients take less energy here, and work until the deadline."""
    grid = FakeGrid(throttled(), monkeypatch)
    strategy = MakespanStrategy(
        fed_avg(10),
        1100,
        batch=10,
        objective="energy",
        deadline=0.5,
        seconds_key="took",
        energy_key="joules",
    )
    run(strategy, grid, 3)
    last = strategy.history[-1]
    assert last.seconds <= 0.5 + 1e-9
    shares = [last.shares.get(node, 0) for node in grid.clients]
    assert shares == [50, 100, 150, 200, 250, 300, 50, 0, 0, 0]


@pytest.mark.parametrize(("fairness", "least"), [(0.5, 550), (1.0, 1100)])
def test_fair_shares(monkeypatch: pytest.MonkeyPatch, fairness: float, least: int) -> None:
    """Over ten rounds, the slowest client did its part of an even share, to a batch."""
    grid = FakeGrid(throttled(), monkeypatch)
    strategy = MakespanStrategy(fed_avg(10), 1100, batch=10, fairness=fairness)
    run(strategy, grid, 10)
    assert all(sum(each.asked) >= least - 10 for each in grid.clients.values())
    assert sum(grid.clients[1].asked) <= max(least, 110 + 9 * 20) + 110


def test_minimum_and_maximum_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every round; more than there is to give is scaled down."""
    grid = FakeGrid(throttled(), monkeypatch)
    run(MakespanStrategy(fed_avg(10), 1100, batch=10, minimum=60, maximum=150), grid, 3)
    for each in grid.clients.values():
        assert all(60 <= share <= 150 for share in each.asked)
    run(MakespanStrategy(fed_avg(10), 1100, batch=10, minimum=500, maximum=500), grid, 3)
    for each in grid.clients.values():
        assert all(share == 110 for share in each.asked[-3:])


def test_clients_that_join_and_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one gets at most an even share, one that has left gets none and is remembered."""
    grid = FakeGrid(throttled()[:4], monkeypatch)
    strategy = MakespanStrategy(fed_avg(4), 1000, batch=10)
    run(strategy, grid, 2)
    grid.clients[5] = FakeClient(0.0005)
    run(strategy, grid, 1)
    assert 10 <= strategy.history[-1].shares[5] <= 200
    assert strategy.history[-1].planned is None
    run(strategy, grid, 1)
    assert strategy.history[-1].shares[5] > 600, "it is the fastest"
    gone = grid.clients.pop(5)
    run(strategy, grid, 1)
    assert sum(strategy.history[-1].shares.values()) == 1000
    grid.clients[5] = gone
    run(strategy, grid, 1)
    assert gone.asked[-1] > 600


def test_a_probing_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first round is short then, and so is that of a new client."""
    grid = FakeGrid(throttled(), monkeypatch)
    strategy = MakespanStrategy(fed_avg(10), 1100, batch=10, probe=20)
    run(strategy, grid, 2)
    assert set(strategy.history[0].shares.values()) == {20}
    assert sum(strategy.history[1].shares.values()) == 1100
    grid.clients[11] = FakeClient(0.5)
    run(strategy, grid, 2)
    assert grid.clients[11].asked[0] == 20
    assert sum(grid.clients[11].asked) == 20, "it is too slow"


def test_a_late_client_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It gets no share until it has replied, and less when it has; its reply is not used."""
    clients = [FakeClient(0.01), FakeClient(0.01), FakeClient(0.01, value=100.0)]
    grid = FakeGrid(clients, monkeypatch)
    strategy = MakespanStrategy(fed_avg(3), 300, patience=2.0)
    run(strategy, grid, 1)
    clients[2].each = 0.08
    result = run(strategy, grid, 12)
    slow, *later = strategy.history[1:]
    assert slow.late == (3,)
    assert slow.seconds == pytest.approx(1.0, rel=0.1)
    assert result.arrays["w"].numpy()[0] < 50.0
    away = [each for each in later if 3 not in each.shares]
    assert 3 <= len(away) <= 6
    assert strategy.history[-1].late == ()
    assert strategy.history[-1].shares[3] == pytest.approx(300 / 17, abs=4)
    assert grid.now < 35.0


def test_a_client_that_never_replies_is_asked_again_in_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others train on; it was asked rarely."""
    clients = [FakeClient(0.01), FakeClient(0.01), FakeClient(0.01)]
    grid = FakeGrid(clients, monkeypatch)
    strategy = MakespanStrategy(fed_avg(3), 300, patience=1.5)
    run(strategy, grid, 1)
    clients[2].silent = True
    run(strategy, grid, 20)
    assert 2 <= len(clients[2].asked) <= 8
    assert all(each.samples >= 150 for each in strategy.history)


def test_a_client_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named, and goes on to get the share of a client that is not known."""
    grid = FakeGrid([FakeClient(0.01), FakeClient(0.02), FakeClient(0.01, fails=True)], monkeypatch)
    strategy = MakespanStrategy(fed_avg(3), 300, batch=10)
    run(strategy, grid, 3)
    assert [each.late for each in strategy.history] == [(3,)] * 3
    assert all(share > 0 for share in grid.clients[3].asked)


def test_another_strategy_chooses_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of them in each round; all samples go to these."""
    grid = FakeGrid(throttled(), monkeypatch)
    half = FedAvg(fraction_train=0.5, fraction_evaluate=0.0, min_available_nodes=1)
    strategy = MakespanStrategy(half, 1100, batch=10)
    run(strategy, grid, 6)
    assert all(len(each.shares) <= 5 for each in strategy.history)
    assert all(each.samples >= 1000 for each in strategy.history)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"batch": 0}, "batch is 1 or more"),
        ({"batch": 7}, "samples is a multiple of batch"),
        ({"objective": "both"}, "objective is 'time' or 'energy'"),
        ({"fairness": 1.5, "minimum": -1}, "fairness is from 0 to 1; minimum is 0 or more"),
        ({"minimum": 60, "maximum": 50}, "maximum is at least minimum and batch"),
        ({"probe": 0}, "probe is at least batch"),
        ({"patience": 0.5}, "patience is 1 or more"),
        ({"budget": 5.0}, "a budget and the objective 'energy' need energy_key or energy"),
    ],
)
def test_mistakes(wrong: dict[str, object], said: str) -> None:
    """All of them, by their rules."""
    with pytest.raises(ValueError, match=said):
        MakespanStrategy(FedAvg(), 100, **wrong)  # type: ignore[arg-type]
