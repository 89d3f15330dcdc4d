"""The file that is copied: even groups, and experts over devices; and what builds on it."""

from __future__ import annotations

import itertools
import json
import math
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks import board_eplb
from makespan import IndependentTasks, balance as one_file, solve
from makespan.balance import balance, get_seqlen_balanced_partitions, rebalance_experts
from makespan.independent import micro_batches, place_experts
from makespan.independent.experts import lower_bound
from tests.numbers import amounts
from tests.oracles.independent_experts import least_load
from tests.thorough import up_to

FILE = Path(one_file.__file__)
FLASHLB = [600, 560, 120, 120, 20, 10, 10, 10]


def heaviest(weights, groups):
    return max(math.fsum(weights[item] for item in group) for group in groups)


def least_heaviest(weights, k, least, most):
    """Try every group for every item."""
    return min(
        (
            max(
                sum(w for w, group in zip(weights, chosen, strict=True) if group == g)
                for g in range(k)
            )
            for chosen in itertools.product(range(k), repeat=len(weights))
            if all(least <= chosen.count(group) <= most for group in range(k))
        ),
    )


@given(st.lists(amounts(1e6), max_size=40), st.integers(1, 6))
def test_every_item_is_in_one_group_and_counts_are_equal(weights, k):
    """Whatever is shared out."""
    groups = balance(weights, k)
    assert sorted(item for group in groups for item in group) == list(range(len(weights)))
    assert max(map(len, groups)) - min(map(len, groups)) <= 1
    assert groups == [sorted(group) for group in groups]
    least = len(weights) // k
    bound = one_file.lower_bound([float(weight) for weight in weights], least, k)
    assert heaviest(weights, groups) >= bound * (1 - 1e-9)


@pytest.mark.parametrize("seed", up_to(30, 200))
def test_no_bound_is_above_the_optimum_and_groups_are_near_it(seed):
    """Against every assignment of up to seven items."""
    rng = random.Random(seed)
    k, items = rng.randint(2, 3), rng.randint(1, 7)
    weights = [float(rng.choice([rng.randint(0, 20), rng.randint(1, 3)])) for _ in range(items)]
    best = least_heaviest(weights, k, items // k, -(-items // k))
    assert one_file.lower_bound(weights, items // k, k) <= best
    assert best <= heaviest(weights, balance(weights, k)) <= 4 / 3 * best + 1e-9


@pytest.mark.parametrize(
    ("counts", "least", "most"),
    [
        ("equal", [2, 2, 2], [2, 2, 2]),
        (None, [0, 0, 0], [6, 6, 6]),
        (3, [0, 0, 0], [3, 3, 3]),
        ([1, 2, 3], [1, 2, 3], [1, 2, 3]),
        ({"least": 2}, [2, 2, 2], [2, 2, 2]),
        ({"least": [0, 3, 1], "most": [1, 5, 5]}, [0, 3, 1], [1, 5, 5]),
    ],
)
def test_counts_are_kept(counts, least, most):
    """Equal, any, the most for all or each, and both; within them, the bound is met."""
    groups = balance([90, 5, 4, 3, 2, 1], 3, counts=counts)
    assert all(map(lambda low, group, high: low <= len(group) <= high, least, groups, most))
    assert heaviest([90, 5, 4, 3, 2, 1], groups) <= 91


def test_a_cap_holds_for_weights_and_for_sizes_of_their_own():
    """A plan within the cap, though the first one that is tried has none."""
    groups = balance([9, 1, 1, 1], 2, counts=None, cap=4, sizes=[1, 3, 2, 2])
    sizes = [1, 3, 2, 2]
    assert all(sum(sizes[item] for item in group) <= 4 for group in groups)
    with pytest.raises(ValueError, match="cap: no 2 groups of at most 2 were found"):
        balance([1, 1, 2], 2, counts=None, cap=2, sizes=[2, 2, 1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -2], 2), r"weights\[1\]: -2 is not allowed"),
        (([1, float("nan")], 2), r"weights\[1\]: nan is not allowed"),
        (([1, 2], 0), "k: 0 is not allowed"),
        (([1, 2], 2, "even"), "counts: 'even' is not allowed"),
        (([1, 2, 3], 2, 1), "counts: 1 is not allowed for 3 items"),
        (([1, 2, 3], 2, {"least": 2}), "counts: {'least': 2} is not allowed for 3 items"),
    ],
)
def test_what_is_not_allowed_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        balance(*arguments)


@pytest.mark.parametrize("draw", ["lognormal", "exponential", "alike", "capped"])
def test_a_batch_over_sixty_four_ranks_is_within_a_two_thousandth(draw):
    """1,024 samples, skewed: to within 0.05 % of the bound; all ranks get sixteen."""
    rng = np.random.default_rng(5)
    lengths = {
        "lognormal": lambda: rng.lognormal(7, 1, 1024),
        "exponential": lambda: rng.exponential(1500, 1024),
        "alike": lambda: np.repeat(rng.lognormal(7, 1, 128), 8) * rng.uniform(0.8, 1.2, 1024),
        "capped": lambda: np.where(rng.random(1024) < 0.1, 8192, rng.lognormal(6.5, 0.8, 1024)),
    }[draw]()
    lengths = np.clip(lengths, 1, 16_384).astype(int)
    groups = get_seqlen_balanced_partitions(lengths, 64, equal_size=True)
    assert {len(group) for group in groups} == {16}
    bound = one_file.lower_bound([float(each) for each in lengths], 16, 64)
    assert heaviest(lengths.tolist(), groups) <= 1.0005 * bound


def test_ranks_get_a_sample_each_where_sizes_differ():
    """The signature in use; what it can't share is refused."""
    groups = get_seqlen_balanced_partitions([50, 1, 1, 1], 3, equal_size=False)
    assert sorted(map(len, groups)) == [1, 1, 2]
    for samples, ranks, equal in (([1, 2], 3, False), ([1, 2, 3], 2, True), ([1], 0, True)):
        with pytest.raises(ValueError, match=f"{ranks} can't share {len(samples)} samples out"):
            get_seqlen_balanced_partitions(samples, ranks, equal_size=equal)


def test_the_library_gives_the_same_to_the_bit():
    """By the same method: longest first, then exchanges, up to the same bound."""
    lengths = np.random.default_rng(3).lognormal(7, 1, 96)
    groups = balance(lengths, 8)
    plan = solve(IndependentTasks(8, lengths, counts="equal"), method="interchange").schedule
    bound = one_file.lower_bound(lengths.tolist(), 12, 8)
    assert bound <= heaviest(lengths.tolist(), groups) <= bound * (1 + 2 * one_file.WITHIN)
    assert plan.makespan <= heaviest(lengths.tolist(), groups) * (1 + 1e-12)
    given = one_file.longest_first(lengths.tolist(), ([12] * 8, [12] * 8))
    lpt = solve(IndependentTasks(8, lengths, counts="equal"), method="lpt").schedule
    rows = [set(lpt.item[lpt.machine == machine].tolist()) for machine in range(8)]
    assert rows == [set(group) for group in given]


# ---- experts


def shares(loads, row):
    return [loads[expert] / row.count(expert) for expert in row]


def test_the_published_example_is_found_and_proved():
    """FlashLB's eight experts in two slots on each of eight devices: 196.67."""
    (row,), slots, (count,) = rebalance_experts([FLASHLB], 16, 1, 1, 8)
    loads = [sum(shares(FLASHLB, row)[at : at + 2]) for at in range(0, 16, 2)]
    assert max(loads) == pytest.approx(590 / 3)
    assert count == [row.count(expert) for expert in range(8)]
    assert [sorted(slot for slot in held if slot >= 0) for held in slots[0]] == [
        [slot for slot in range(16) if row[slot] == expert] for expert in range(8)
    ]
    found = place_experts(FLASHLB, devices=8, slots=2)
    assert found.load == pytest.approx(590 / 3)
    assert found.optimal
    assert all(len(set(held)) == 2 for held in found.devices)


@pytest.mark.parametrize("seed", up_to(6, 30))
def test_placements_are_least_of_all(seed):
    """Three devices with two slots each: against every number of replicas and every place."""
    rng = random.Random(seed)
    loads = [float(rng.randint(0, 30)) for _ in range(rng.randint(2, 5))]
    found = place_experts(loads, devices=3, slots=2)
    least = least_load(loads, devices=3, slots=2)
    assert lower_bound(loads, 3, 2) <= least * (1 + 1e-9)
    assert found.load == pytest.approx(least)
    assert found.optimal
    (row,), _, _ = rebalance_experts([loads], 6, 1, 1, 3)
    assert max(sum(shares(loads, row)[at : at + 2]) for at in (0, 2, 4)) >= least * (1 - 1e-12)


def test_experts_stay_in_their_groups_and_nodes():
    """Four groups of two experts on two nodes: each node holds two whole groups."""
    rng = random.Random(0)
    rows = [[rng.expovariate(1) for _ in range(8)] for _ in range(5)]
    placed, _, counts = rebalance_experts(rows, 16, 4, 2, 4)
    for row, count in zip(placed, counts, strict=True):
        assert min(count) >= 1
        nodes = [{expert // 2 for expert in row[:8]}, {expert // 2 for expert in row[8:]}]
        assert not nodes[0] & nodes[1]
        assert all(len(set(row[at : at + 4])) == 4 for at in range(0, 16, 4))


def test_few_replicas_move_from_a_placement():
    """Loads that drift: as even as is asked, and most slots hold what they held."""
    rng = random.Random(1)
    loads = [rng.lognormvariate(0, 1) for _ in range(64)]
    placed, _, _ = rebalance_experts([loads], 80, 1, 1, 8)
    drifted = [load * rng.lognormvariate(0, 0.05) for load in loads]
    moved, _, _ = rebalance_experts([drifted], 80, 1, 1, 8, current=placed, within=0.005)

    def worst(row):
        return max(sum(shares(drifted, row)[at : at + 10]) for at in range(0, 80, 10))

    assert worst(moved[0]) <= 1.005 * sum(drifted) / 8 < worst(placed[0])
    assert sum(one != other for one, other in zip(moved[0], placed[0], strict=True)) <= 16
    dear, _, _ = rebalance_experts([drifted], 80, 1, 1, 8, current=placed, price=1e9)
    assert dear == placed


def test_tables_come_back_as_they_were_given():
    """Lists as lists, arrays as arrays."""
    lists = rebalance_experts([[3, 2, 1, 1]], 6, 1, 1, 2)
    arrays = rebalance_experts(np.array([[3, 2, 1, 1]]), 6, 1, 1, 2)
    assert all(isinstance(table, np.ndarray) for table in arrays)
    assert [table.tolist() for table in arrays] == list(lists)


def test_tensors_come_back_as_tensors(monkeypatch):
    """By the ``asarray`` of the library that their type is of: as PyTorch has it."""
    library = ModuleType("tensors")
    library.Tensor = type(
        "Tensor", (list,), {"__module__": "tensors.core", "tolist": lambda self: [*self]}
    )
    library.asarray = library.Tensor
    monkeypatch.setitem(sys.modules, "tensors", library)
    weight = library.Tensor([library.Tensor([3, 2, 1, 1])])
    tables = rebalance_experts(weight, 6, 1, 1, 2)
    assert all(type(table) is library.Tensor for table in tables)
    assert list(tables[0]) == rebalance_experts([[3, 2, 1, 1]], 6, 1, 1, 2)[0]
    assert balance(library.Tensor([3, 2, 1, 1]), 2) == balance([3, 2, 1, 1], 2)


def test_replicas_may_share_a_device_where_there_is_no_other():
    """One device; or it is asked for."""
    assert sorted(rebalance_experts([[3, 1]], 4, 1, 1, 1)[0][0]) in ([0, 0, 0, 1], [0, 0, 1, 1])
    (row,), _, _ = rebalance_experts([[90, 1, 1, 1]], 8, 1, 1, 2, duplicates=True)
    assert row.count(0) > 2


def test_slots_that_are_not_shared_evenly_are_refused():
    """Nor are layers of different lengths, or a placement of other experts."""
    with pytest.raises(ValueError, match="num_replicas: 7 slots for 4 experts"):
        rebalance_experts([[1, 2, 3, 4]], 7, 1, 1, 2)
    with pytest.raises(ValueError, match="num_replicas: 4 slots for 0 experts"):
        rebalance_experts([[1, 2], [1]], 4, 1, 1, 2)
    for current in ([[0, 1, 5, 0]], [], [[0, 0, 0, 0]]):
        with pytest.raises(ValueError, match="current: it has a row of all 2 experts"):
            rebalance_experts([[1, 2]], 4, 1, 1, 2, current=current)


# ---- micro-batches


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(40, 90), st.integers(1, 3))
def test_micro_batches_keep_the_cap_and_are_equally_many(lengths, cap, ranks):
    found = micro_batches(lengths, cap, ranks=ranks, b=0.01)
    assert sorted(item for own in found for group in own for item in group) == list(
        range(len(lengths))
    )
    assert len({len(own) for own in found}) == 1
    assert all(sum(lengths[item] for item in group) <= cap for own in found for group in own)
    assert len(found[0]) * ranks >= sum(lengths) / cap


def test_micro_batches_are_as_few_as_fit():
    """Triplets that fill each group: found by complete search; the order is that of the seed."""
    rng = random.Random(2)
    lengths = []
    for _ in range(6):
        one, two = rng.randint(26, 40), rng.randint(26, 33)
        lengths += [one, two, 100 - one - two]
    rng.shuffle(lengths)
    assert len(micro_batches(lengths, 100)[0]) == 6
    found = [micro_batches(lengths, 120, ranks=2, seed=seed) for seed in (1, 1, 4)]
    assert found[0] == found[1] != found[2]


def test_every_mistake_of_micro_batches_is_named():
    from makespan import ProblemError

    with pytest.raises(ProblemError) as caught:
        micro_batches([1, -1], 0, ranks=0, a=-1)
    places = [mistake.place for mistake in caught.value.mistakes]
    assert places == ["lengths", "cap", "a", "ranks"]
    with pytest.raises(ProblemError, match=r"lengths\[1\]: 9 is above 8, the cap"):
        micro_batches([1, 9], 8)


# ---- the file


ALONE = f"""
import sys
before = set(sys.modules)
sys.path.insert(0, {str(FILE.parent)!r})
import balance
new = set(sys.modules) - before
assert not new & {{"numpy", "makespan", "torch"}}, new
assert all(name.partition(".")[0] in sys.stdlib_module_names for name in new - {{"balance"}}), new
import doctest
assert doctest.testmod(balance).attempted >= 2 and not doctest.testmod(balance).failed
assert balance.balance([9, 1, 8, 2, 7, 3], 3) == {balance([9, 1, 8, 2, 7, 3], 3)!r}
lengths = [(7 * i * i + 3 * i) % 1009 + 1 for i in range(256)]
groups = balance.get_seqlen_balanced_partitions(lengths, 16, True)
assert sorted(i for g in groups for i in g) == list(range(256))
assert {{len(g) for g in groups}} == {{16}}
assert max(sum(lengths[i] for i in g) for g in groups) <= 1.001 * sum(lengths) / 16
row = balance.rebalance_experts([{FLASHLB!r}], 16, 1, 1, 8)[0][0]
tops = [{FLASHLB!r}[e] / row.count(e) for e in row]
assert max(a + b for a, b in zip(tops[::2], tops[1::2])) < 196.67
"""


def test_it_runs_alone():
    """In an interpreter that sees the standard library and this file."""
    subprocess.run([sys.executable, "-I", "-S", "-c", ALONE], check=True)


def test_it_stays_short():
    """At most 500 lines, as it is read before it is copied."""
    assert len(FILE.read_text("utf-8").splitlines()) <= 500


def test_numbers_of_other_types_are_weights():
    """Scalars of NumPy in a list are what they stand for; texts are refused with their place."""
    assert balance([np.int64(3), np.float32(1), np.int32(2)], 2) == balance([3, 1, 2], 2)
    with pytest.raises(ValueError, match=r"weights\[1\]: '2' is not allowed"):
        balance([1, "2"], 2)


def test_the_board_of_experts_reads_recorded_loads_and_bounds_every_placement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums of steps, and no numbers of replicas have less than the bound, by enumeration."""
    rng = np.random.default_rng(3)
    steps = rng.integers(0, 9, (5, 2, 4)).tolist()
    path = tmp_path / "expert-load.json"
    path.write_text(json.dumps({"load_history": [{"logical_expert_load": one} for one in steps]}))
    monkeypatch.setattr(board_eplb, "STEPS", 2)
    sums = list(board_eplb.recorded(path))
    assert [each.tolist() for each in sums[:2]] == [
        np.add(steps[0], steps[1]).tolist(),
        np.add(steps[2], steps[3]).tolist(),
    ]
    assert sums[2].tolist() == steps[4]
    monkeypatch.setattr(board_eplb, "SLOTS", 7)
    for loads in rng.integers(1, 30, (20, 1, 4)).astype(float):
        counts = [each for each in itertools.product(range(1, 5), repeat=4) if sum(each) == 7]
        optimum = min((loads[0] / each).max() for each in counts)
        assert board_eplb.least(loads)[0] == optimum
