"""Task graphs: tasks with precedences whose data travel between machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of

if TYPE_CHECKING:
    from makespan.taskgraph import formats as formats
    from makespan.taskgraph.generate import graphs as graphs

__all__ = names_of(__name__)  # noqa: PLE0605
__getattr__ = lazily(__name__)
