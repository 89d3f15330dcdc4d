"""What is proved of a plan of several sources by programmes of sums."""

from __future__ import annotations

import numpy as np

from makespan.backends.answer import Answer, Verdict
from makespan.core.control import Control
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.sources.scaled import Scaled
from makespan.divisible.sources.sums import Sums

MAX_LINKS, MAX_WHOLE = 1_000, 60
"""Links up to which the end of a plan tightens its bound, and whole numbers do."""


def proof_of(
    problem: DivisibleLoad, makespan: float, control: Control
) -> tuple[Answer | None, Scaled]:
    """Return the best programme of sums for plans that end before one that is known.

    None where it says no more than the bounds do. Complexity: linear programmes of as many
    variables as links, and up to 60 links a mixed-integer one, to the limit of ``control``.
    """
    horizon = makespan if problem.load is not None else np.inf
    links = int(Scaled(problem).linked.sum())
    if not problem.has_latencies or links > MAX_LINKS or control.expired():
        return None, Scaled(problem)
    sums = Sums(problem, horizon=horizon)
    answer = sums.solve(control)
    if links <= MAX_WHOLE and answer.verdict is Verdict.OPTIMAL:
        whole = Sums(problem, horizon=horizon, relaxed=sums)
        better = whole.programme.solve(control)
        if better.bound > answer.bound:
            answer = better
    return answer, sums.scaled
