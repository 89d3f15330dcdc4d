"""Methods called by name for more workers than they are meant for."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from makespan import DivisibleLoad, Star, solve
from makespan.core.errors import TooLarge
from makespan.divisible.one_round import subsets
from makespan.divisible.one_round.ending_together import AffineCosts
from makespan.divisible.rates.quick import equal_finish_shares


def test_what_takes_too_much_memory_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before costs are copied or orders listed: ten million workers took 5 GB until they were."""
    monkeypatch.setenv("MAKESPAN_MEMORY", "0.1")
    rng = np.random.default_rng(0)
    columns = {"send_per_unit": 0.02, "compute_per_unit": rng.uniform(0.5, 2.0, 600_000)}
    star = Star.from_arrays(**columns)
    with pytest.raises(TooLarge, match="the costs of all workers"):
        solve(DivisibleLoad(load=6e6, platform=star), method="bus-exchange")
    returning = Star.from_arrays(**columns, return_per_unit=rng.uniform(0.01, 0.02, 600_000))
    problem = DivisibleLoad(load=6e6, platform=returning, discipline="fifo")
    with pytest.raises(TooLarge, match="programme of 600,000 workers"):
        solve(problem, method="fifo")


@pytest.mark.parametrize("many", [0, 100])
def test_rates_of_those_behind(many: int) -> None:
    """As of all who are left, served by send cost; of many, as of a few more than are left."""
    rng = np.random.default_rng(1)
    send, compute = rng.uniform(0.1, 1.0, 45), rng.uniform(0.5, 2.0, 45)
    costs = AffineCosts(send_fixed=send, send=send, compute_fixed=send, compute=compute)
    with patch.object(subsets, "MANY", many):
        rates = subsets._suffix_rates(costs)
    for first in range(45):
        begin = first if many else first - first % 2
        behind = begin + np.argsort(send[begin:])
        assert rates[first] == pytest.approx(
            equal_finish_shares(send[behind], compute[behind]).sum()
        )
