"""The problems of ``benchmarks.limits``: families that grow, a file for each kind."""

from __future__ import annotations

from importlib import import_module

from benchmarks.limit_problems.family import Family

KINDS = ("divisible", "partition", "independent", "reduction", "taskgraph")


def families(kind: str) -> tuple[Family, ...]:
    """Return the families of a kind."""
    found: tuple[Family, ...] = import_module(f"benchmarks.limit_problems.{kind}").FAMILIES
    return found
