"""Whatever dies: complete results, or an error with what there is, and a clean cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from campaign.faulty_cluster import CLUSTER_FAULTS, PHASES, WHATS, WORKER_FAULTS, Faulty
from makespan.execute.dask.cluster import workers

pytestmark = pytest.mark.thorough  # a kill that costs nothing is among the fast tests of faults


@pytest.fixture(scope="module")
def faulty() -> Iterator[Faulty]:
    """A cluster to let faults happen on."""
    with Faulty() as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("what", "phase"),
    [("map", "measuring"), ("run", "sending"), ("run", "computing"), ("compute", "returning")],
)
def test_a_killed_worker_costs_nothing(faulty: Faulty, what: str, phase: str) -> None:
    """In each phase."""
    outcome = faulty.run(1, what, "kill", phase)
    assert not outcome.wrong, outcome
    assert outcome.ended == "complete", outcome
    assert outcome.struck


def test_measuring_waits_for_workers_when_all_die(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that come are measured."""
    monkeypatch.setattr(workers, "PATIENCE", 20.0)
    outcome = faulty.run(1, "map", "all die", "measuring")
    assert not outcome.wrong, outcome
    assert outcome.ended == "complete", outcome.error
    assert outcome.struck


def test_a_worker_that_takes_too_much_memory(faulty: Faulty) -> None:
    """Its nanny kills it; its chunks go to others. Where it had none left, another try is made."""
    for seed in range(1, 10):
        outcome = faulty.run(seed, "run", "memory", "sending")
        assert not outcome.wrong, outcome
        assert outcome.ended == "complete", outcome
        if outcome.struck:
            break
    assert outcome.struck


def test_an_interrupt_reaches_the_caller(faulty: Faulty) -> None:
    """With nothing left behind."""
    outcome = faulty.run(1, "run", "interrupt", "sending")
    assert not outcome.wrong, outcome
    assert outcome.ended == "interrupted", outcome


def test_a_lost_scheduler_is_an_error(faulty: Faulty) -> None:
    """With the results until then."""
    outcome = faulty.run(1, "run", "scheduler", "computing")
    assert not outcome.wrong, outcome
    assert outcome.ended == "error", outcome
    assert "the scheduler at" in outcome.error


@pytest.mark.slow
@pytest.mark.parametrize("fault", WORKER_FAULTS + CLUSTER_FAULTS)
@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("what", WHATS)
def test_nothing_is_lost(faulty: Faulty, what: str, phase: str, fault: str) -> None:
    """Each fault in each phase; faults of one worker don't keep a run from its end."""
    if (what, phase) == ("run", "measuring"):
        pytest.skip("a run does not measure")
    outcome = faulty.run(2, what, fault, phase)
    assert not outcome.wrong, outcome
    if fault in WORKER_FAULTS:
        assert outcome.ended == "complete", outcome
