"""Bounds of collectives on unlike links, against optima that a plain model proved, once."""

from __future__ import annotations

import pytest

from benchmarks.ground_truth import COLLECTIVES, LINKS, OPTIMA, SEED, case
from benchmarks.table import kept_in
from makespan.reduction.bounds import bounds
from tests.thorough import few

FIRST = (83, 133)  # where prices that grew without end made false proofs
NUMBERS = [*FIRST, *(number for number in range(200) if number not in FIRST)]


@pytest.mark.parametrize("number", few(NUMBERS, 1, thorough=8))
def test_no_bound_is_above_a_proven_optimum(number: int) -> None:
    """Of each family; the optima are in the file, which the benchmark makes."""
    known = kept_in(OPTIMA)
    for collective in COLLECTIVES:
        for links in LINKS:
            optimum = known[f"{collective} {links} {SEED} {number}"]
            if optimum is None:  # the model left it open
                continue
            for bound in bounds(case(links, collective, (SEED, number))):
                assert bound.value <= optimum * (1 + 1e-9), (collective, links, bound)
