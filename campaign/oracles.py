"""The slow, obvious answers that methods are held against: what ``tests/oracles`` has for a kind.

For a kind there are ``random_problem(rng)``, a small problem with all fields mixed;
``covers(problem)``, whether every plan of it can be tried; ``best(problem)``, the least value of
what is optimised (the most, where that is sought), None where there is no plan; and perhaps
``false_claims(problem, result)``, which yields what a result says that is not so.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from campaign.version import ROOT
from makespan.core.problem import Problem
from makespan.flow.kinds import KINDS

FOLDER = ROOT / "tests" / "oracles"
GENERATOR = re.compile(r"^def random_problem\(\s*rng: ([\w.]+)[^)]*\) -> \w+:", re.MULTILINE)
NONE_MEANS_TOO_MANY = ("taskgraph",)  # where there is no plan, the best is inf


class Oracle(NamedTuple):
    """What answers for one kind."""

    kind: str
    random_problem: Callable[[random.Random], Problem]
    covers: Callable[[Any], bool]
    best: Callable[[Any], Any]
    false_claims: Callable[[Any, Any], Iterable[str]] | None


@cache
def oracles() -> tuple[Oracle, ...]:
    """Return the oracles that there are."""
    found = (_oracle(kind) for kind in KINDS)
    return tuple(oracle for oracle in found if oracle is not None)


def _oracle(kind: str) -> Oracle | None:
    """Return the oracle of a kind, whose problems and answers may stand in two modules."""
    problems = answers = None
    takes = ""
    for path in sorted(FOLDER.glob(f"{kind}_*.py")):
        text = path.read_text()
        generator = GENERATOR.search(text)
        if generator is not None:
            problems, takes = module(path.stem), generator[1]
        if "\ndef covers(" in text and "\ndef best(" in text:
            answers = module(path.stem)
    if problems is None or answers is None:
        return None
    made = problems.random_problem

    def random_problem(rng: random.Random) -> Problem:
        source = np.random.default_rng(rng.getrandbits(64)) if "Generator" in takes else rng
        problem: Problem = made(source)
        return problem

    claims = getattr(answers, "false_claims", None)
    return Oracle(kind, random_problem, answers.covers, answers.best, claims)


def module(stem: str) -> ModuleType:
    """Return a module of ``tests/oracles``."""
    return import_module(f"tests.oracles.{stem}")


def random_problem(rng: random.Random) -> tuple[Oracle, Problem]:
    """Return an oracle and a problem that it made."""
    oracle = rng.choice(oracles())
    return oracle, oracle.random_problem(rng)
