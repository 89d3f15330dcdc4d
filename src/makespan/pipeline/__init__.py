"""Pipelines: consecutive stages on unlike machines, data sets flow through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.pipeline.formats import options_for as options_for, read_layers as read_layers

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
