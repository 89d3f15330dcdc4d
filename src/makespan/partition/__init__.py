"""Partition: identical tasks over resources with measured costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.partition.model.curves import Curve as Curve, Samples as Samples

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
