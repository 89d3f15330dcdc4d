"""Reductions: segments held by all machines, to be combined on one of them.

>>> from makespan.reduction import evaluate
>>> evaluate([(1, 1), (1, 3), (1, 1)], 0.1, 1, 0.3)
3.8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.reduction.notebook import estimate as estimate, evaluate as evaluate

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
