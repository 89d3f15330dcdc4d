"""The nominal runs of policies as plans: their chunks, each sent as early as the port allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from makespan.core.control import Control
from makespan.core.registry import register
from makespan.core.solution import Solution
from makespan.divisible import policies
from makespan.divisible.methods.rounds.umr import UNIFORM
from makespan.divisible.needs import OPEN_ROUNDS, POLICY
from makespan.divisible.problem import DivisibleLoad
from makespan.divisible.timing import timed

A_CHUNK = "O(workers) a chunk"


def planned(make: Callable[..., policies.Policy]) -> Callable[..., Solution]:
    """Return the method that plans the chunks of a policy's run without errors.

    Its options, and what is said of it, are the policy's.
    """

    @wraps(make, assigned=("__name__", "__doc__"))
    def method(problem: DivisibleLoad, control: Control, **options: Any) -> Solution:
        return Solution(schedule=timed(problem, make(problem, **options).plan()))

    return method


for name, make, source in (
    ("self-scheduling", policies.self_scheduling, "Tang and Yew 1986"),
    ("guided", policies.guided, "Polychronopoulos and Kuck 1987"),
    ("factoring", policies.factoring, "Flynn Hummel, Schonberg and Flynn 1992"),
    (
        "weighted-factoring",
        policies.weighted_factoring,
        "Flynn Hummel, Schmidt, Uma and Wein 1996",
    ),
):
    register(
        "divisible", name=name, needs=POLICY, published=True, complexity=A_CHUNK, source=source
    )(planned(make))

register(
    "divisible",
    name="rumr",
    needs=(*UNIFORM, OPEN_ROUNDS),
    published=True,
    complexity=f"O(rounds tried^2), then {A_CHUNK}",
    source="Yang and Casanova 2003 (RUMR)",
)(planned(policies.rumr))
