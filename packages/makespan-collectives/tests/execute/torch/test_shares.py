"""Shares of batches: the best, within memory, after a drift; and the samples they give out."""

from __future__ import annotations

import math
from itertools import chain, product

import numpy as np
import pytest

from makespan.core.errors import InputError
from makespan.execute.torch import Calibration, Shares, UnevenSampler

INFINITE = float("inf")


def costs(factors, sizes=(1, 16, 64), energy=()):
    """Costs in proportion to samples; a byte of memory each."""
    times = tuple(tuple(factor * size for size in sizes) for factor in factors)
    memory = tuple(tuple(float(size) for size in sizes) for _ in factors)
    joules = tuple(tuple(watt * size for size in sizes) for watt in energy)
    return Calibration(sizes=sizes, times=times, memory=memory, energy=joules)


def random_costs(rng, ranks):
    """Costs that fall and rise."""
    rows = tuple(map(tuple, rng.integers(1, 30, (ranks, 4)).astype(float).tolist()))
    joules = tuple(map(tuple, rng.integers(1, 30, (ranks, 4)).astype(float).tolist()))
    memory = tuple((1.0, 2.0, 4.0, 7.0) for _ in range(ranks))
    return Calibration(sizes=(1, 2, 4, 7), times=rows, memory=memory, energy=joules)


def all_counts(batch, ranks):
    """Yield every way to share a batch out."""
    for counts in product(range(1, batch), repeat=ranks - 1):
        if sum(counts) < batch:
            yield (*counts, batch - sum(counts))


def test_shares_are_the_best_of_all():
    """Least time, least energy within a time, with memory that forbids counts."""
    rng, batch = np.random.default_rng(8), 9
    for _ in range(20):
        found, most = random_costs(rng, 3), rng.integers(3, 8, 3).tolist()
        seconds, joules = found.table("times", batch), found.table("energy", batch)
        allowed = [c for c in all_counts(batch, 3)
                   if all(map(lambda count, limit: count <= limit, c, most))]  # fmt: skip

        def took(counts, table):
            return [table[rank][count] for rank, count in enumerate(counts)]

        best = min(max(took(counts, seconds)) for counts in allowed)
        given = {"memory": [float(limit) for limit in most], "accumulate": False}
        shares = Shares(found, batch, **given)
        assert shares.counts in allowed
        assert max(took(shares.counts, seconds)) == best
        timely = [c for c in allowed if max(took(c, seconds)) <= 1.3 * best]
        saving = Shares(found, batch, objective="energy", deadline=1.3 * best, **given)
        assert saving.counts in timely
        least = min(sum(took(counts, joules)) for counts in timely)
        assert math.isclose(sum(took(saving.counts, joules)), least)


def test_a_share_above_memory_is_done_in_pieces():
    """Each costs what it costs; pieces are even, and as few as can be."""
    found = Calibration(
        sizes=(1, 11), times=((2.0, 12.0), (INFINITE, INFINITE)), memory=((1.0, 11.0),) * 2
    )
    with pytest.raises(InputError, match="none keep the limits"):
        Shares(found, 12)
    found = Calibration(sizes=(1, 11), times=((2.0, 12.0),) * 2, memory=((1.0, 11.0),) * 2)
    shares = Shares(found, 12, memory=[4.0, None])
    assert shares.largest == [4, 12]
    assert shares.counts == (5, 7)  # pieces of 3 and 2 take 4 + 3, seven at once take 8
    assert shares.pieces(0) == [3, 2]
    assert shares.pieces(1) == [7]


def test_what_did_not_fit_is_not_given():
    """A size that was out of memory, or less than memory allows."""
    found = Calibration(
        sizes=(2, 4, 8),
        times=((1.0, 2.0, INFINITE), (1.0, 2.0, 4.0)),
        memory=((2.0, 4.0, 8.0),) * 2,
    )
    assert Shares(found, 12).largest == [4, 12]
    assert Shares(found, 12, memory=[3.0, 10.0]).largest == [3, 10]
    assert Shares(found, 12, accumulate=False).counts == (4, 8)


def test_a_drift_changes_shares_once():
    """After three steps; a disturbed step, a common change and rounding do not."""
    shares = Shares(costs([1.0, 2.0, 4.0]), 56)
    assert shares.counts == (32, 16, 8)

    def step(factors):
        took = [count * factor for count, factor in zip(shares.counts, factors, strict=True)]
        shares.observe(shares.counts, took)
        if shares.due:
            shares.adapt()
        return shares.counts

    for factors in (
        [1, 2, 4],
        [9, 2, 4],
        [1.05, 2, 4.1],
        [1, 2, 4],
        [3, 6, 12],
        [3, 6, 12],
        [3, 6, 12],
    ):
        assert step(factors) == (32, 16, 8)
    seen = [step([12, 6, 12]) for _ in range(6)]
    assert seen[0] == (32, 16, 8)
    assert seen[2:] == [(14, 28, 14)] * 4
    assert len(shares.changes) == 2


def test_steps_without_times_tell_nothing():
    """The first of all, and one of another kind."""
    shares = Shares(costs([1.0, 1.0]), 8)
    for samples, seconds in (((0, 0), (0, 0)), ((4, 4), (0, 1)), ((9, 4), (1, 1))):
        for _ in range(3):
            shares.observe(samples, seconds)
    assert not shares.due


def test_a_deadline_that_drift_makes_impossible_is_let_go():
    """The shares are then the fastest."""
    found = costs([1.0, 2.0], energy=[3.0, 1.0])
    shares = Shares(found, 12, objective="energy", deadline=10.0)
    assert shares.counts == (7, 5)
    for _ in range(3):
        shares.observe(shares.counts, [7 * 5.0, 5 * 2.0])
    shares.adapt()
    assert shares.counts == (3, 9)


def test_energy_is_kept_least_after_a_drift():
    """Within the deadline, also where that saves no time."""
    found = costs([1.0, 1.0], energy=[1.0, 3.0])
    shares = Shares(found, 12, objective="energy", deadline=9.0)
    assert shares.counts == (9, 3)
    for _ in range(3):
        shares.observe(shares.counts, [9 * 0.9, 3 * 1.0])
    shares.adapt()
    assert shares.counts == (10, 2)


def test_smaller_batches_are_split_in_proportion():
    """To a sample each at least, all of them given out."""
    shares = Shares(costs([1.0, 2.0, 40.0]), 60)
    for samples in range(3, 61):
        counts = shares.split(samples)
        assert sum(counts) == samples
        assert min(counts) >= 1
        exact = [share * samples / 60 for share in shares.counts]
        assert max(map(lambda a, b: abs(a - b), counts, exact)) <= 2


def test_each_sample_is_given_out_once():
    """By all ranks together, in the order of one rank, and after a stop by others."""
    shares = Shares(costs([1.0, 2.0, 4.0]), 14)
    samplers = [UnevenSampler(range(101), shares, rank=rank, shuffle=False) for rank in range(3)]
    assert [len(sampler) for sampler in samplers] == [8] * 3
    batches = [[*chain(*parts)] for parts in zip(*samplers, strict=True)]
    assert batches == [list(range(k, min(101, k + 14))) for k in range(0, 101, 14)]
    for sampler in samplers:
        given = iter(sampler)
        next(given), next(given)
        state = sampler.state_dict()
        assert state == {"epoch": 0, "batch": 2, "seed": 0}
        assert sampler.state_dict(batches=1)["batch"] == 1
        other = UnevenSampler(range(100), 14, rank=sampler.rank, ranks=3, shuffle=False)
        other.load_state_dict(state)
        other.set_epoch(0)
        assert {*next(iter(other))} <= {*range(28, 42)}
        other.set_epoch(1)
        assert {*next(iter(other))} <= {*range(14)}


def test_the_last_batch_is_left_out_or_filled_up():
    """As PyTorch's own sampler does."""
    parts = [UnevenSampler(range(9), 4, rank=rank, ranks=4, shuffle=False) for rank in range(4)]
    assert [list(part)[-1] for part in parts] == [[8], [0], [1], [2]]
    dropped = UnevenSampler(range(9), 4, rank=0, ranks=4, shuffle=False, drop_last=True)
    assert len(dropped) == len(list(dropped)) == 2


def test_lengths_are_evened_among_equal_counts():
    """As many samples on each rank, sums as even as the balance makes them."""
    lengths = np.random.default_rng(3).integers(1, 999, 64).tolist()
    parts = [
        list(UnevenSampler(lengths, 16, rank=rank, ranks=4, shuffle=False, lengths=lengths))
        for rank in range(4)
    ]
    for batch in zip(*parts, strict=True):
        assert {len(part) for part in batch} == {4}
        sums = [sum(lengths[sample] for sample in part) for part in batch]
        assert max(sums) < 1.1 * sum(sums) / 4


def test_what_is_wrong_is_named():
    """With what is allowed."""
    found = costs([1.0, 2.0])
    for given, text in (
        ({"batch": 1}, "batch: 1 is not a whole number from 2 on"),
        ({"batch": 9, "memory": [1.0]}, "memory: has 1 limits; there are 2 ranks"),
        ({"batch": 9, "deadline": 1.0}, "shares: none keep the limits"),
    ):
        with pytest.raises(InputError, match=text):
            Shares(found, **given)
    with pytest.raises(InputError, match="lengths: go with equal shares"):
        UnevenSampler(range(9), Shares(found, 9), rank=0, lengths=[1] * 9)
    with pytest.raises(InputError, match="rank: 2 of 2 ranks can't get a share"):
        UnevenSampler(range(9), 9, rank=2, ranks=2)
    with pytest.raises(InputError, match="neither Shares nor a number"):
        UnevenSampler(range(9), "all", rank=0)
    with pytest.raises(InputError, match="times: is not 1 × 2 numbers"):
        Calibration(sizes=(1, 2), times=((1.0,),), memory=((1.0, 2.0),))


def test_a_calibration_is_kept_in_a_file(tmp_path):
    """What did not fit, too."""
    path = tmp_path / "steps.json"
    found = Calibration(sizes=(2, 4), times=((1.0, INFINITE),), memory=((2.0, INFINITE),))
    found.save(path)
    assert Calibration.read(path) == found
    assert Shares(path, 4).pieces(0) == [2, 2]
