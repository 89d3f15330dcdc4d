"""How objects come to their pictures, which packages above this one draw.

``makespan/__init__.py`` registers what draws. An object can then be drawn by a method of its own,
and nothing in ``core`` imports what draws it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes as Axes  # noqa: PLC0414 - others take it from here
else:
    Axes = Any  # importing matplotlib waits until something is drawn


class Renderers(Protocol):
    """Draws problems, results, comparisons and overviews."""

    def plot(self, thing: Any, ax: Axes | None, **options: Any) -> Axes:
        """Draw a thing with matplotlib, into ``ax`` or into a new figure."""

    def image(self, thing: Any, suffix: str, **options: Any) -> str | bytes:
        """Return the picture of a thing as it stands in a file with this suffix; SVG of plans."""

    def title(self, result: Any) -> str:
        """Return the line above the picture of a result."""

    def tables(self, problem: Any) -> Sequence[Any]:
        """Return what a problem consists of, as tables of :mod:`makespan.core.display`."""

    def fragment(self, line: str, notes: Sequence[str], picture: str, tables: Sequence[Any]) -> str:
        """Return what a notebook shows of an object, as HTML."""


_registered: Renderers


def register_renderers(renderers: Renderers) -> None:
    """Register what draws, for the whole process."""
    global _registered  # noqa: PLW0603
    _registered = renderers


def renderers() -> Renderers:
    return _registered
