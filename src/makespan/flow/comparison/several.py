"""Methods side by side on several problems: each comparison, and how they did over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from makespan.core.display import Table, counted
from makespan.drawing.comparison import profile_svg
from makespan.flow.comparison.pictures import plot_profile, profile_of
from makespan.flow.comparison.summary import (
    MethodSummary,
    ProfileRow,
    profile,
    profile_table,
    summarise,
    summary_table,
)
from makespan.flow.comparison.table import FORMAT, Compared, Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparisons(Compared):
    """Methods side by side on several problems.

    Parameters
    ----------
    by_name
        The :class:`Comparison` of each problem, by its name: its path where it is from a file.
    left_out
        A line for each file of a folder that holds no problem.

    ``comparisons["star.toml"]`` is one of them; iterating gives the names.
    """

    by_name: Mapping[str, Comparison]
    left_out: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.by_name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __getitem__(self, name: str) -> Comparison:
        return self.by_name[name]

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it before all methods had run on all problems."""
        return any(one.interrupted for one in self.by_name.values())

    @property
    def summary(self) -> tuple[MethodSummary, ...]:
        """How each method did over all problems: the most often best first, then by ratio."""
        return summarise(list(self.by_name.values()))

    @property
    def profile(self) -> tuple[ProfileRow, ...]:
        """On which share of the problems each method was within x % of the best."""
        return profile(list(self.by_name.values()))

    def __str__(self) -> str:
        several = len(self) > 1
        parts = [f"{name}\n{one}" if several else str(one) for name, one in self.by_name.items()]
        return "\n\n".join([*parts, self.over_all()] if several else parts)

    def over_all(self) -> str:
        """Return the summary and the performance profile as text."""
        tables = f"{summary_table(self.summary)}\n\n{profile_table(self.profile)}"
        return f"{counted(len(self), 'problem')}\n{tables}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the performance profile with matplotlib."""
        return plot_profile(list(self.by_name.values()), ax)

    def named(self) -> Mapping[str, Comparison]:
        return self.by_name

    def _document(self) -> dict[str, Any]:
        return self.as_dict()

    def as_dict(self) -> dict[str, Any]:
        """Return all rows, and of several problems the summary, as they stand in JSON."""
        found = [{"file": name, **one.as_dict()} for name, one in self.by_name.items()]
        data: dict[str, Any] = {"format": FORMAT, "comparisons": found}
        if len(self) > 1:
            data["summary"] = [one.as_dict() for one in self.summary]
            data["profile"] = [row.as_dict() for row in self.profile]
        return data

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [
            {"problem": name, "kind": one.problem.kind, **row}
            for name, one in self.by_name.items()
            for row in one.as_dict()["rows"]
        ]
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def _facts(self) -> Sequence[str]:
        facts = [counted(len(self), "problem"), counted(len(self.summary), "method")]
        return [*facts, f"most often best {self.summary[0].method}"] if self.summary else facts

    def _notes(self) -> Sequence[str]:
        return [f"left out: {line}" for line in self.left_out]

    def _tables(self) -> Sequence[Table]:
        return [summary_table(self.summary), profile_table(self.profile)]

    def _picture(self) -> str:
        return profile_svg(profile_of(list(self.by_name.values())))
