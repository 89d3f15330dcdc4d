"""kind → a random problem."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem
from makespan.flow.kinds import kind_named


def generate(kind: str, *, seed: int = 0, options: Mapping[str, Any] | None = None) -> Problem:
    """Return a random problem of a kind; the same seed and options give the same problem.

    Raises
    ------
    ProblemError
        If there is no such kind, or the options are not allowed.
    InputError
        If the kind's generator has no such option.

    >>> generate("independent", seed=1, options={"tasks": 3}).durations.shape
    (3,)
    """
    known = generator_options(kind)
    for name in options or {}:
        if name not in known:
            raise InputError(f"{kind} problems have no option {name!r}{did_you_mean(name, known)}")
    problem: Problem = _maker(kind)(np.random.default_rng(seed), **(options or {}))
    return problem


def generator_options(kind: str) -> dict[str, Any]:
    """Return the options of a kind's generator with their defaults."""
    parameters = inspect.signature(_maker(kind)).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _maker(kind: str) -> Callable[..., Problem]:
    return kind_named(kind).generate.generate
