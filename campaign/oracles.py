"""The slow, obvious answers that methods are held against: one module of ``tests/oracles`` a kind.

A module is an oracle if it has ``random_problem(rng)``, which gives a small problem with all fields
of its kind mixed, ``covers(problem)``, which says whether it can answer, and ``best(problem)``: the
least value of what is optimised, None where there is no plan.
"""

from __future__ import annotations

import random
from functools import cache
from importlib import import_module
from types import ModuleType

from campaign.version import ROOT
from makespan.core.problem import Problem

NEEDED = ("random_problem", "best", "covers")


@cache
def oracles() -> tuple[ModuleType, ...]:
    """Return the modules that answer for a kind, in the order of their names."""
    found = []
    for path in sorted((ROOT / "tests" / "oracles").glob("*.py")):
        text = path.read_text()
        if all(f"def {name}(" in text for name in NEEDED):
            found.append(import_module(f"tests.oracles.{path.stem}"))
    return tuple(found)


def random_problem(rng: random.Random) -> tuple[ModuleType, Problem]:
    """Return an oracle and a problem that it made."""
    oracle = rng.choice(oracles())
    problem: Problem = oracle.random_problem(rng)
    return oracle, problem
