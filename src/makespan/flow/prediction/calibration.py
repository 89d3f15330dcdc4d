"""Runs whose makespans were measured → what their engine adds."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from makespan.backends.highs import Programme
from makespan.core.control import Control
from makespan.core.numeric.arrays import Floats
from makespan.flow.prediction.replay import Engine, Overheads, Replay

ROUNDS = 12
BEGINNINGS = (Overheads(), Overheads(setup=10.0, dispatch=1.0, link=1e8))
UNIT = 1e9  # bytes, so that the numbers of a programme are alike


class Calibration(NamedTuple):
    """What an engine adds, and by which factors makespans may be off.

    A factor is a measured makespan over the one that follows. What is fitted to a run is nearer to
    it than to others: with n runs n / (n - 4) times as near, in logarithms, so many are left out.
    """

    overheads: Overheads
    ratios: Sequence[float]


def calibrated(engines: Sequence[Engine], makespans: Sequence[float]) -> Calibration:
    """Return the overheads with the least mean error, relative to the measured makespans.

    A makespan is linear in the overheads as long as its run waits for the same. So a linear
    programme finds the best for what the runs wait for now, and the runs are made anew with them,
    or half of the way there, in turn. The best that is met is returned: a local optimum.
    Complexity: 24 runs of each.
    """
    best, least = Calibration(Overheads(), []), inf
    for overheads in BEGINNINGS:
        at = overheads
        for step in range(ROUNDS):
            runs = [engine.run(at) for engine in engines]
            ratios = [each / (run.end or each) for each, run in zip(makespans, runs, strict=True)]
            error = sum(abs(1.0 / each - 1.0) for each in ratios)
            if error < least:
                apart = len(ratios) / max(1, len(ratios) - 4)
                best, least = Calibration(at, [each**apart for each in ratios]), error
            at = _between(at, _fitted(runs, makespans), 0.5 if step % 2 else 1.0)
    return best


def _fitted(runs: Sequence[Replay], makespans: Sequence[float]) -> Floats:
    """Return start-up, set-up, dispatch and seconds a unit of bytes that fit what runs wait for."""
    programme = Programme()
    overheads = programme.variables(4)
    errors = programme.variables(len(runs), cost=1.0)
    for (*_, path), measured, error in zip(runs, makespans, errors, strict=True):
        terms = np.array([1.0, path.setups, path.dispatches, path.amount / UNIT]) / measured
        rest = 1.0 - path.work / measured
        programme.row([*overheads, error], [*terms, 1.0], low=rest)
        programme.row([*overheads, error], [*terms, -1.0], high=rest)
    return np.maximum(programme.solve(Control()).values[:4], 0.0)


def _between(before: Overheads, after: Floats, share: float) -> Overheads:
    old = np.array([before.startup, before.setup, before.dispatch, UNIT / before.link])
    startup, setup, dispatch, unit = (old + share * (after - old)).tolist()
    return Overheads(startup, setup, dispatch, UNIT / unit if unit else inf)
