"""What is measured of ranks: rounds of pairs, costs of every pair, files."""

from __future__ import annotations

import json
import time
from itertools import combinations

import numpy as np
import pytest

from makespan import read_problem, save, solve
from makespan.core.errors import FileError, InputError, MakespanError
from makespan.execute.collectives.measuring import rounds_of
from makespan.execute.mpi import Calibration
from tests.execute.mpi.launch import command


def calibration(rng, ranks=4):
    """Return costs that differ by pair, as if measured."""

    def table():
        return tuple(map(tuple, (rng.random((ranks, ranks)) * (1 - np.eye(ranks))).tolist()))

    def column():
        return tuple(rng.random(ranks).tolist())

    return Calibration(
        ranks=ranks,
        type="float64",
        latency=table(),
        message_overhead=table(),
        transfer_per_byte=table(),
        send_per_byte=column(),
        receive_per_byte=column(),
        reduce_overhead=column(),
        reduce_per_byte=column(),
        shared=(((0, 1), (2, 3), 1.9),),
        seconds=4.5,
    )


@pytest.mark.parametrize("ranks", range(2, 10))
def test_rounds_hold_every_pair_once(ranks):
    """In a round every rank is at most once; all rounds together are all pairs."""
    rounds = rounds_of(ranks)
    assert len(rounds) == ranks - 1 + ranks % 2
    for pairs in rounds:
        members = [rank for pair in pairs for rank in pair]
        assert len(members) == len(set(members)) == ranks - ranks % 2
    assert sorted(pair for pairs in rounds for pair in pairs) == list(combinations(range(ranks), 2))


def test_calibrations_are_kept_in_files(tmp_path):
    """What is saved is read again, equal."""
    found = calibration(np.random.default_rng(1))
    found.save(tmp_path / "ranks.json")
    assert Calibration.read(tmp_path / "ranks.json") == found
    assert "rank 0 to 1 and rank 2 to 3 take 1.9 times as long together" in str(found)


def test_broken_files_are_refused(tmp_path):
    """A file of something else, and a table of another size, are named."""
    target = tmp_path / "ranks.json"
    target.write_text('{"format": "makespan.problem/1"}')
    with pytest.raises(FileError, match=r"format: 'makespan.problem/1' is not"):
        Calibration.read(target)
    calibration(np.random.default_rng(1)).save(target)
    found = json.loads(target.read_text())
    for name, wrong, message in (
        ("latency", [[0.0]], "latency: is not 4 × 4 numbers"),
        ("ranks", "four", "ranks"),
    ):
        target.write_text(json.dumps(found | {name: wrong}))
        with pytest.raises(MakespanError, match=message):
            Calibration.read(target)


def test_problems_begin_with_the_root():
    """Rows and columns follow the machines, and those the ranks."""
    found = calibration(np.random.default_rng(2))
    problem = found.problem(100.0, root=2, collective="all-reduce")
    assert problem.machines == ("rank 2", "rank 0", "rank 1", "rank 3")
    assert problem.transfer_per_byte[0, 3] == found.transfer_per_byte[2][3]
    assert problem.reduce_per_byte[1] == found.reduce_per_byte[0]
    assert found.problem(100.0, segments=4).segments == 4
    dealt = found.problem(100.0, root=2, segments=5, collective="all-to-all")
    assert (dealt.collective, dealt.segments, dealt.items) == ("all-to-all", 5, 20)
    overhead, per_byte = found.message_overhead[2][3], found.transfer_per_byte[2][3]
    assert dealt.transfer[0, 3] == overhead + per_byte * 20.0
    with pytest.raises(InputError, match="root: 4 is not a rank, from 0 to 3"):
        found.problem(1.0, root=4)


@pytest.mark.parametrize("ranks", [2, 4])
def test_calibrate_writes_a_problem(tmp_path, ranks):
    """What was measured, in the time given, stands in a problem that can be solved."""
    target, kept = tmp_path / "problem.toml", tmp_path / "ranks.json"
    begin = time.monotonic()
    done = command(
        *(ranks, "calibrate", "-o", target, "--save", kept, "--seconds", 1),
        *("--length", 1000, "--type", "int32"),
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begin < 30  # with starting Python
    problem, found = read_problem(target), Calibration.read(kept)
    assert problem.bytes == 4000
    assert problem.segments == "auto"
    assert problem == found.problem(4000)
    apart = ~np.eye(ranks, dtype=bool)
    assert (problem.transfer_per_byte[apart] > 0).all()
    assert min(found.send_per_byte + found.receive_per_byte) > 0
    assert solve(problem, time_limit=1).makespan > 0


@pytest.mark.thorough
def test_a_gather_is_calibrated_planned_and_run(tmp_path):
    """Ranks contribute their blocks of an array whose length can't be divided evenly."""
    target, plan = tmp_path / "problem.toml", tmp_path / "plan.json"
    done = command(3, "calibrate", "-o", target, "--seconds", 0.5, "--collective", "gather")
    assert done.returncode == 0, done.stderr
    problem = read_problem(target)
    assert (problem.collective, problem.segments) == ("gather", 3)
    save(solve(problem, time_limit=0.5), plan)
    done = command(3, "run", plan, "--length", 1000)
    assert done.returncode == 0, done.stderr
    assert "gather of 1,000 float64 on 3 ranks\n" in done.stdout
    assert "MPI.Gather" in done.stdout
    assert "equal to the bit" in done.stdout
