"""Reductions: segments held by all machines, to be combined on one of them.

>>> from makespan.reduction import evaluate
>>> evaluate([(1, 1), (1, 3), (1, 1)], 0.1, 1, 0.3)
3.8
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from makespan.reduction.search.evaluation import evaluate
    from makespan.reduction.search.prediction import estimate

_HOME_OF = {
    "evaluate": "makespan.reduction.search.evaluation",
    "estimate": "makespan.reduction.search.prediction",
}

__all__ = ["estimate", "evaluate"]


def __getattr__(name: str) -> Any:
    """Load a function from its module when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'makespan.reduction' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
