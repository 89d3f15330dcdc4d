"""Random divisible loads: what the options promise holds, and a seed gives one problem."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from makespan import solve
from makespan.core.errors import ProblemError
from makespan.divisible.generate import generate
from makespan.divisible.model.tree import Tree


def rng(seed=0):
    return np.random.default_rng(seed)


@given(
    topology=st.sampled_from(["star", "bus", "tree"]),
    workers=st.integers(1, 30),
    heterogeneity=st.floats(1, 100),
    ratio=st.floats(0.01, 100),
    seed=st.integers(0, 1000),
)
def test_costs_stay_within_the_spread(topology, workers, heterogeneity, ratio, seed):
    """The largest cost is at most ``heterogeneity`` times the smallest, around its median."""
    problem = generate(
        rng(seed), topology=topology, workers=workers, heterogeneity=heterogeneity, ratio=ratio
    )
    platform = problem.platform
    send, compute = platform.send_per_unit, platform.compute_per_unit
    if isinstance(platform, Tree):
        assert send[0] == 0
        send, compute = send[1:], compute[1:]
    assert len(send) == len(compute) == workers
    half = np.sqrt(heterogeneity) * (1 + 1e-9)
    for costs, middle in ((send, 1.0), (compute, ratio)):
        assert np.all((costs >= middle / half) & (costs <= middle * half))
    if topology == "bus":
        assert len(set(send.tolist())) == 1


@pytest.mark.parametrize("topology", ["star", "bus", "tree"])
def test_problems_are_planned(topology):
    """A generated problem is read as any other: it has a plan that the referee accepts."""
    result = solve(generate(rng(3), topology=topology, workers=12, master_computes=True))
    assert result.status == "optimal"


def test_sources_hold_equal_parts():
    """As many sources as asked for, each with its part, its links and, if asked for, a computer."""
    problem = generate(rng(), topology="sources", sources=3, workers=5, load=60.0, latency=0.5)
    platform = problem.platform
    assert platform.held.tolist() == [20.0] * 3
    assert platform.send_per_unit.shape == (3, 5)
    assert platform.send_fixed.all()
    assert not platform.computes.any()
    assert generate(rng(), topology="sources", master_computes=True).platform.computes.all()


def test_options_do_what_they_say():
    """Latencies, returns and a computing master appear where they are asked for, only there."""
    plain = generate(rng())
    assert not plain.platform.send_fixed.any()
    assert not plain.platform.return_per_unit.any()
    assert plain.platform.master.compute is None
    full = generate(rng(), workers=4, load=100.0, latency=0.5, returns=0.2, master_computes=True)
    star = full.platform
    assert np.all((star.send_fixed >= 12.5 / 2) & (star.send_fixed <= 12.5 * 2))
    assert star.return_per_unit == pytest.approx(0.2 * star.send_per_unit)
    assert star.master.compute is not None


def test_trees_have_no_more_children_than_allowed():
    """Each node has at most ``children``; with one, the tree is a chain."""
    tree = generate(rng(1), topology="tree", workers=200, children=2).platform
    assert max(map(len, tree.children)) == 2
    chain = generate(rng(1), topology="tree", workers=20, children=1).platform
    assert chain.parent.tolist() == list(range(-1, 20))


def test_a_seed_gives_one_problem():
    """The same seed gives the same problem, another gives another."""
    assert generate(rng(5)) == generate(rng(5))
    assert generate(rng(5)) != generate(rng(6))


def test_all_mistakes_together():
    """Every option that is not allowed is named."""
    with pytest.raises(ProblemError) as error:
        generate(rng(), topology="ring", workers=0, load=-1.0, heterogeneity=0.5, ratio=0.0)
    places = [mistake.place for mistake in error.value.mistakes]
    assert places == ["workers", "load", "heterogeneity", "ratio", "topology"]
    with pytest.raises(ProblemError, match="nothing returns on a tree"):
        generate(rng(), topology="tree", returns=0.1)
