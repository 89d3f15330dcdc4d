"""Minimum cuts against enumeration, and what is imported for them."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from makespan.backends.min_cuts import COMPILED, MinCuts
from tests.thorough import few


@pytest.mark.parametrize("seed", range(10))
def test_a_cut_is_the_least_of_all_groups(seed: int) -> None:
    """The side that is returned has the target and not the source, and is cut off for the value."""
    rng = np.random.default_rng(seed)
    nodes, count = 6, int(rng.integers(1, 20))
    edges = [[int(end) for end in rng.choice(nodes, 2, replace=False)] for _ in range(count)]
    capacity = (rng.integers(0, 9, count) / 4).tolist()

    def cut(inside: set[int]) -> float:
        return sum(
            amount
            for (start, end), amount in zip(edges, capacity, strict=True)
            if start not in inside and end in inside
        )

    groups = ({5, *np.flatnonzero(bits)} for bits in product((0, 1), repeat=5) if not bits[0])
    value, side = MinCuts(nodes, edges).between(0, 5, capacity)
    assert value == pytest.approx(min(map(cut, groups)))
    assert value == pytest.approx(cut(set(side)))
    assert 5 in side
    assert 0 not in side


LOADED = f"""
import sys
{{first}}
from makespan.backends.min_cuts import MinCuts
assert MinCuts(2, [(0, 1)]).between(0, 1, [3.0]) == (3.0, [1])
assert {{first!r}} or not any(each == "igraph" or "matplotlib" in each for each in sys.modules)
import igraph
assert igraph.Graph.__base__ is sys.modules["{COMPILED}"].GraphBase
assert igraph.Graph(2, [(0, 1)]).mincut(0, 1).value == 1
"""


@pytest.mark.parametrize("first", few(["", "import igraph"], 1))
def test_nothing_that_draws_is_imported(first: str) -> None:
    """And the whole package works before and afterwards, on the same graphs."""
    code = LOADED.format(first=first)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
