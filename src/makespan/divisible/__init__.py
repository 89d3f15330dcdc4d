"""Divisible loads: a load that can be cut anywhere, sent from a master to workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.divisible.published import fractions as fractions
    from makespan.divisible.published.rounds import (
        merge_rounds as merge_rounds,
        output_rounds as output_rounds,
        threshold as threshold,
    )

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
