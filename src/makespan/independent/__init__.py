"""Independent tasks: identical, uniform and unrelated machines, counts and sizes, preemption."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.independent.batching import micro_batches as micro_batches
    from makespan.independent.experts import Placement as Placement, place_experts as place_experts

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
