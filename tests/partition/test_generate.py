"""Random partition problems: each family has its shape, and a seed gives one problem."""

import numpy as np
import pytest

from makespan import solve
from makespan.core.errors import ProblemError
from makespan.partition.generate import FAMILIES, generate
from tests.oracles import partition_enumeration as oracle


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("objective", ["makespan", "total", "pareto"])
def test_problems_are_planned(family, objective):
    """The optima of every family are those of all splits, for every kind of objective."""
    problem = generate(
        rng(1), resources=3, tasks=21, family=family, energy=True, objective=objective
    )
    result = solve(problem)
    assert result.status == "optimal"
    times, energies = (
        [dict(enumerate(row)) for row in values.reshape(3, 22).tolist()]
        for values in (problem.choices.table.values, problem.choices.table.energies)
    )
    if objective == "makespan":
        assert result.makespan == oracle.least_makespan(times, 21)[0]
    elif objective == "total":
        assert result.objective.value == pytest.approx(float(oracle.least_total(times, 21)))
    else:
        front = [(time, float(energy)) for time, energy in oracle.front(times, energies, 21)]
        found = [(point["time"], point["energy"]) for point in result.details["front"]]
        assert np.array(found) == pytest.approx(np.array(front))


def test_families_have_their_shapes():
    """Monotone and convex tables are found to be so; the others are not."""
    shapes = {
        family: generate(rng(2), tasks=200, family=family).choices.structure()
        for family in FAMILIES
    }
    assert shapes.pop("monotone") == "monotone"
    assert shapes.pop("convex") == "monotone and convex"
    assert all(text.startswith("no shape assumed") for text in shapes.values())


def test_cheap_counts_of_the_parity_family_are_even():
    """Odd counts cost 1 or more; with odd tasks the makespan is thus at least 1."""
    problem = generate(rng(3), resources=6, tasks=31, family="parity")
    assert 1.0 <= solve(problem).makespan < 2.0
    values = problem.choices.table.values.reshape(6, 32)
    assert (values[:, 1::2] >= 1.0).all()
    assert (values[:, 0] < 1.0).all()


def test_one_seed_gives_one_problem():
    """Equal seeds and options give equal problems; other seeds give others."""
    assert generate(rng(4)) == generate(rng(4))
    assert generate(rng(4)) != generate(rng(5))


def test_every_wrong_option_is_named():
    """All mistakes are reported together."""
    with pytest.raises(ProblemError) as caught:
        generate(rng(), resources=0, tasks=1.5, family="wav", energy=1)
    text = str(caught.value)
    for name in ("resources", "tasks", "family", "energy"):
        assert name in text
    assert "did you mean 'wave'?" in text
