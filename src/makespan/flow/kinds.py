"""The kinds of problems that there are: one entry each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from makespan.core.errors import InputError, ProblemError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean, suggesting
from makespan.core.kind import Kind
from makespan.core.problem import Problem
from makespan.core.registry import Applicability, Methods, applicability, methods_of

KINDS = {
    kind.name: kind
    for kind in (
        Kind("divisible"),
        Kind("independent"),
        Kind("partition"),
        Kind("pipeline"),
        Kind("reduction"),
        Kind("taskgraph"),
    )
}


def kind_named(name: object) -> Kind:
    """Return the kind called ``name``. Raises ProblemError if there is none."""
    if not isinstance(name, str) or name not in KINDS:
        hint = did_you_mean(name, KINDS)
        raise ProblemError(f"kind: {quoted(name)} is not a kind of problem{hint}")
    return KINDS[name]


def kind_of(problem: Problem) -> Kind:
    """Return the kind of ``problem``. Raises ProblemError if it is not a problem at all."""
    if not hasattr(type(problem), "kind"):
        raise ProblemError(f"{quoted(problem)} is not a problem; makespan.read_problem reads one")
    return kind_named(problem.kind)


@suggesting
def methods(problem_or_kind: Problem | str) -> Methods:
    """Return every method of a kind, and for a problem, why it does not apply.

    They are printed as a table.

    Raises
    ------
    ProblemError
        If there is no such kind.

    >>> [verdict.name for verdict in methods("independent") if verdict.method.published]
    ['list-scheduling', 'max-min']
    """
    if isinstance(problem_or_kind, str):
        kind = kind_named(problem_or_kind)
        return Methods(Applicability(method=method) for method in methods_of(kind.name))
    kind = kind_of(problem_or_kind)
    return Methods(applicability(method, problem_or_kind) for method in methods_of(kind.name))


def generate(kind: str, *, seed: int = 0, options: Mapping[str, Any] | None = None) -> Problem:
    """Return a random problem of a kind; the same seed and options give the same problem.

    Raises ProblemError if there is no such kind, or the options are not allowed; InputError if the
    kind's generator has no such option.

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


DRAFT = "https://json-schema.org/draft/2020-12/schema"
HERE = "#/$defs/"


def schema(kind: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind's files, or of all kinds' in one.

    In the latter, ``kind`` says which part applies, so that an editor names the mistakes of that
    kind alone. Raises ProblemError if there is no such kind.
    """
    if kind is not None:
        return kind_named(kind).file.schema()
    definitions: dict[str, Any] = {}
    for name, entry in KINDS.items():
        own = entry.file.schema()
        own.pop("$schema", None)
        for inner, part in own.pop("$defs", {}).items():
            definitions[f"{name}.{inner}"] = moved(part, f"{HERE}{name}.")
        definitions[name] = moved(own, f"{HERE}{name}.")
    return {
        "$schema": DRAFT,
        "title": "A problem for makespan",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": list(KINDS), "description": "What kind of problem it is"}},
        "discriminator": {
            "propertyName": "kind",
            "mapping": {name: f"#/$defs/{name}" for name in KINDS},
        },
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in KINDS
        ],
        "$defs": definitions,
    }


def moved(part: Any, start: str) -> Any:
    """Return a part of a schema with its references led to where its definitions went."""
    if isinstance(part, list):
        return [moved(each, start) for each in part]
    if isinstance(part, dict):
        return {key: moved(each, start) for key, each in part.items()}
    if isinstance(part, str) and part.startswith(HERE):
        return part.replace(HERE, start, 1)
    return part
