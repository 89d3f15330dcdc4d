"""kind → a random problem."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.problem import Problem
from makespan.flow.kinds import KINDS, kind_named


def generate(kind: str, *, seed: int = 0, options: Mapping[str, Any] | None = None) -> Problem:
    """Return a random problem of a kind; the same seed and options give the same problem.

    Raises
    ------
    ProblemError
        If there is no such kind, or the options are not allowed.
    InputError
        If the kind has no generator, or no such option.

    >>> generate("independent", seed=1, options={"tasks": 3}).durations.shape
    (3,)
    """
    entry = kind_named(kind)
    known = generator_options(kind)
    if known is None:
        able = [name for name in KINDS if generator_options(name) is not None]
        raise InputError(f"{kind} problems are not generated; {', '.join(able)} are")
    for name in options or {}:
        if name not in known:
            raise InputError(f"{kind} problems have no option {name!r}{did_you_mean(name, known)}")
    assert entry.generator is not None
    problem: Problem = entry.generator(np.random.default_rng(seed), **(options or {}))
    return problem


def generator_options(kind: str) -> dict[str, Any] | None:
    """Return the options of a kind's generator with their defaults; None if it has none."""
    generator = kind_named(kind).generator
    if generator is None:
        return None
    parameters = inspect.signature(generator).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
