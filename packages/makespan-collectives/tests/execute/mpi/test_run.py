"""Plans on real ranks: the values, the schedule that was measured, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from makespan import DivisibleLoad, Reduction, Star, Worker, save, solve
from makespan.flow.files.files import read_schedule
from tests.execute.mpi.launch import command, launch
from tests.thorough import few

PROGRAMS = Path(__file__).parent


@pytest.fixture
def plan(tmp_path):
    """The file of a plan for three ranks."""
    problem = Reduction(machines=3, segments=4, latency=1, transfer=1, reduce=1)
    save(solve(problem, method="chain"), tmp_path / "plan.json")
    return tmp_path / "plan.json"


def all_right(ranks, plans):
    done = launch(ranks, PROGRAMS / "random_plans.py", plans)
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)
    assert len(verdicts) == plans
    wrong = [verdict["case"] for verdict in verdicts if not verdict["right"]]
    assert wrong == []
    whole = [verdict for verdict in verdicts if "int" in verdict["case"][2]]
    assert whole
    assert all(verdict["exact"] for verdict in whole)


@pytest.mark.parametrize(("ranks", "plans"), few([(4, 5), (2, 40), (8, 4)], 1))
def test_random_plans_equal_mpi(ranks, plans):
    """Random plans give what MPI's own operations and NumPy give, integers to the bit."""
    all_right(ranks, plans)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 8])
def test_more_random_plans_equal_mpi(ranks):
    """The same on three and on five to eight ranks."""
    all_right(ranks, 60)


def test_run_writes_what_was_measured(plan, tmp_path):
    """The measured schedule has the rows of the plan, real times, and is drawn beside it."""
    measured, page = tmp_path / "measured.json", tmp_path / "both.html"
    done = command(
        3, "run", plan, "--type", "int16", "--length", 2, "-o", measured, "--plot", page, "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["exact"]
    assert len(found["planned"]) == len(found["classical"]) == 5
    planned = read_schedule(plan, Reduction(machines=3, segments=4, transfer=1, reduce=1))
    schedule = read_schedule(measured, Reduction(machines=3, segments=4, transfer=1, reduce=1))
    assert [
        (row["kind"], row["machine"], row["peer"], row["item"]) for row in schedule.records()
    ] == [(row["kind"], row["machine"], row["peer"], row["item"]) for row in planned.records()]
    assert schedule.start.min() == 0.0
    assert (schedule.end >= schedule.start).all()
    assert 0.0 < schedule.makespan < 60.0
    assert page.stat().st_size > 1000


def test_one_rank_alone(tmp_path):
    """A reduction on one machine has nothing to send, and gives its own array."""
    save(solve(Reduction(machines=1, segments=2, transfer=1, reduce=1)), tmp_path / "one.json")
    done = command(1, "run", tmp_path / "one.json", "--length", 5)
    assert done.returncode == 0, done.stderr
    assert "on 1 rank, sum" in done.stdout
    assert "equal to the bit" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("ranks", "extra", "message"),
    [
        (2, [], "plan: is for 3 machines, but there are 2 ranks; start it with 'mpiexec -n 3'"),
        (3, ["-o", "missing/measured.json"], "there is no folder missing"),
        (3, ["--operation", "mean"], "'mean' is not one of"),
    ],
)
def test_refused_once_and_by_name(plan, ranks, extra, message):
    """What can't be run is refused with one message, from rank 0, and exit code 2."""
    done = command(ranks, "run", plan, *extra)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("error:") == 1
    assert message in done.stderr


def test_plans_of_other_kinds_are_refused(tmp_path):
    """A plan of another kind says which kind can be run."""
    load = DivisibleLoad(load=1.0, platform=Star([Worker(send=1.0, compute=1.0)]))
    save(solve(load), tmp_path / "load.json")
    done = command(2, "run", tmp_path / "load.json")
    assert done.returncode == 2
    assert "is of kind 'divisible'; MPI carries out plans of kind 'reduction'" in done.stderr


@pytest.mark.thorough
def test_examples_run(tmp_path, monkeypatch):
    """Those of all public names, on three ranks."""
    monkeypatch.chdir(tmp_path)
    done = launch(3, PROGRAMS / "examples.py")
    assert done.returncode == 0, done.stderr
