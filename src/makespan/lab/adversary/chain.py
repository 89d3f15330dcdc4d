"""Simulated annealing over problems: one chain, which can be stopped and gone on with."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from makespan.lab.adversary.changes import Ranges, changed, fitted, problem_in
from makespan.lab.adversary.document import Document
from makespan.lab.adversary.duel import Duel, Outcome

HOT, COLD = (0.03, 0.3), 0.003  # temperatures, in logarithms of ratios: every other chain is hotter
MOST_FAULTS = 5

Step = tuple[str, float]
"""What was changed, and the ratio after it."""


@dataclass(slots=True, kw_only=True)
class State:
    """How far a chain is; all of it can stand in a JSON file.

    ``trail`` are the changes from ``start`` to ``document``; the first ``turns`` lead to ``best``.
    """

    chain: int
    steps: int = 0
    start: Document | None = None
    document: Document | None = None
    ratio: float = 0.0
    trail: list[Step] = field(default_factory=list)
    best: Document | None = None
    best_ratio: float = 0.0
    turns: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    faults: list[tuple[str, Document]] = field(default_factory=list)
    random: dict[str, Any] | None = None


class Annealing(NamedTuple):
    """What all chains of a search have in common."""

    duel: Duel
    ranges: Ranges
    starts: tuple[Document, ...]
    iterations: int
    seed: int

    def advanced(self, state: State, seconds: float) -> State:
        """Return the state of a chain after some seconds, or at its end.

        A change for the better is kept, another one with probability exp(difference of the
        logarithms of both ratios / T): a fall from 11 to 10 counts as one from 1.1 to 1. T falls
        geometrically.
        """
        rng = np.random.default_rng((self.seed, state.chain))
        if state.random is not None:
            rng.bit_generator.state = state.random
        ends = time.monotonic() + seconds
        while state.steps < self.iterations and time.monotonic() < ends:
            self._step(state, rng)
            state.steps += 1
        state.random = dict(rng.bit_generator.state)
        return state

    def _step(self, state: State, rng: np.random.Generator) -> None:
        if state.document is None:
            start = self.starts[(state.chain + state.steps) % len(self.starts)]
            text, document = "", fitted(start, self.ranges, rng)
            problem = problem_in(document)
        else:
            text, document, problem = changed(state.document, self.ranges, rng)
        if problem is None:
            outcome = Outcome(None, "no change was allowed")
        else:
            outcome = self.duel.fought(problem)
        if outcome.ratio is None:
            state.left_out[outcome.note] = state.left_out.get(outcome.note, 0) + 1
            if outcome.is_fault and len(state.faults) < MOST_FAULTS:
                state.faults.append((outcome.note, document))
            return
        if state.document is None:
            state.start = document
        else:
            hot = HOT[state.chain % len(HOT)]
            temperature = hot * (COLD / hot) ** (state.steps / self.iterations)
            gain = math.log(outcome.ratio / state.ratio)
            if gain < 0 and rng.random() >= math.exp(gain / temperature):
                return
            state.trail.append((text, outcome.ratio))
        state.document, state.ratio = document, outcome.ratio
        if outcome.ratio > state.best_ratio:
            state.best, state.best_ratio = document, outcome.ratio
            state.turns = len(state.trail)
