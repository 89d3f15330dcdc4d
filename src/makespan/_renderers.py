"""What draws problems, results, comparisons and overviews when they are asked for a picture.

What draws is loaded when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from makespan.core.display import Table


class LoadedWhenUsed:
    """The :class:`~makespan.core.display.Renderers` of makespan."""

    def plot(self, thing: Any, ax: Axes | None, **options: Any) -> Axes:
        from makespan.flow.comparison.table import Comparison

        if isinstance(thing, Comparison):
            from makespan.flow.comparison.several import plot_comparison

            return plot_comparison(thing, ax)
        from makespan.flow.plot import plot

        return plot(thing, ax=ax, **options)

    def image(self, thing: Any, suffix: str, **options: Any) -> str | bytes:
        from makespan.flow.comparison.table import Compared
        from makespan.flow.plot import svg
        from makespan.lab.overview import Overview, Panel

        if isinstance(thing, Compared):
            from makespan.flow.comparison.several import image_of

            return image_of(thing.named(), suffix)
        if isinstance(thing, Overview):
            from makespan.lab.pictures import image_of as image_of_overview

            return image_of_overview(thing, suffix)
        if isinstance(thing, Panel):
            from makespan.lab.pictures import image_of_panel

            return image_of_panel(thing, suffix)
        return svg(thing, **options)

    def title(self, result: Any) -> str:
        from makespan.flow.picture import title_of

        return title_of(result)

    def tables(self, problem: Any) -> Sequence[Table]:
        from makespan.flow.serialize import problem_tables

        return problem_tables(problem)

    def fragment(
        self, line: str, notes: Sequence[str], picture: str, tables: Sequence[Table]
    ) -> str:
        from makespan.drawing.page.tables import fragment

        return fragment(line, notes, picture, tables)
