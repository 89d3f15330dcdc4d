"""Random reductions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from makespan.core.inputs.mistakes import Mistakes
from makespan.core.inputs.rules import Rule
from makespan.reduction.problem import Collective, Reduction


def generate(
    rng: np.random.Generator,
    *,
    machines: int = 8,
    segments: int = 4,
    latency: float = 1.0,
    transfer: float = 1.0,
    reduce: float = 1.0,
    spread: float = 0.0,
    collective: Collective = "reduce",
    decimals: Literal[0, 1, 2, 3] = 1,
) -> Reduction:
    """Return a reduction with times around the given ones.

    Parameters
    ----------
    rng
        The generator.
    machines, segments, collective
        As in :class:`~makespan.Reduction`.
    latency, transfer, reduce
        Mean times, seconds.
    spread
        0: the same times everywhere. Up to 1: uniform times from ``1 - spread`` to ``1 + spread``
        of the means, one per pair of machines and one per machine.
    decimals
        What times are rounded to, so that they have a common unit.
    """
    mistakes = Mistakes()
    mistakes.number("spread", spread, Rule("a spread is from 0 to 1", high=1.0))
    mistakes.raise_if_any()
    ends: dict[str, Any] = {}
    if collective == "custom":  # copies from anywhere to anywhere
        ends["before"] = rng.integers(1, machines + 1, (segments, 1)).tolist()
        wanted = rng.integers(0, 2, (segments, machines)).astype(bool)
        ends["after"] = [(np.flatnonzero(row) + 1).tolist() for row in wanted]
    if spread == 0:
        return Reduction(
            machines=machines,
            segments=segments,
            latency=latency,
            transfer=transfer,
            reduce=reduce,
            collective=collective,
            **ends,
        )

    def around(mean: float, shape: tuple[int, ...]) -> np.ndarray:
        return np.round(mean * rng.uniform(1 - spread, 1 + spread, shape), decimals)

    return Reduction(
        machines=machines,
        segments=segments,
        latency=around(latency, (machines, machines)),
        transfer=around(transfer, (machines, machines)),
        reduce=around(reduce, (machines,)),
        collective=collective,
        **ends,
    )
