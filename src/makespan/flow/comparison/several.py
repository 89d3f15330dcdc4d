"""Methods side by side on several problems: each comparison, and how they did over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from makespan.core.display import Axes, Table, counted
from makespan.core.problem import NO_MACHINES, assumed_machines
from makespan.drawing.comparison import Entry, Profile, Ranking, profile_svg, ranking_svg
from makespan.drawing.page.tables import html_table, on_each_screen, still_page
from makespan.drawing.render import drawn, stacked_image
from makespan.drawing.svg import stacked
from makespan.drawing.text import percent, shortened
from makespan.flow.comparison.table import (
    FORMAT,
    THRESHOLDS,
    Compared,
    Comparison,
    MethodSummary,
    ProfileRow,
    profile,
    profile_table,
    summarise,
    summary_table,
)

MAX_RANKINGS = 20  # problems up to which a picture shows each; of more, it shows the profile alone


def ranking(comparison: Comparison, title: str | None = None) -> Ranking:
    """Return what a picture of a comparison shows."""
    what = comparison.objective
    entries = tuple(
        Entry(
            name=row.method,
            value=row.value,
            note=_note(row.gap, row.status, row.note) if row.value is None or row.gap else "",
            best=row.best,
        )
        for row in comparison.rows
    )
    return Ranking(
        title=f"{comparison.problem.kind}: methods side by side" if title is None else title,
        what=f"{what} (s)" if what == "makespan" else what,
        entries=entries,
        bound=_bound(comparison),
    )


def _bound(comparison: Comparison) -> float | None:
    """Return the best bound on what the methods are compared by."""
    objectives = [r.objective for r in comparison.results.values() if r.objective is not None]
    if not objectives:
        return comparison.lower_bound
    best = min if any(one.maximise for one in objectives) else max
    return best((one.bound for one in objectives if one.bound is not None), default=None)


def _note(gap: float | None, status: str, note: str) -> str:
    if gap is not None:
        return f"gap {percent(gap)}"
    return f"{status}: {shortened(note)}" if note else status


def plot_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw a comparison with matplotlib, and return the axes."""
    return drawn(ranking(comparison).part, ax)


def image_of(comparisons: Mapping[str, Comparison], suffix: str) -> str | bytes:
    """Return named comparisons below each other: ``.svg``, ``.png``, ``.pdf`` or ``.html``."""
    shown = {} if len(comparisons) > MAX_RANKINGS and suffix != ".html" else comparisons
    rankings = [ranking(comparison, name) for name, comparison in shown.items()]
    over_all = [profile_of(list(comparisons.values()))] if len(comparisons) > 1 else []
    if suffix == ".html":
        return _page(list(comparisons.values()), rankings, over_all)
    if suffix == ".svg":
        return stacked([*map(ranking_svg, rankings), *map(profile_svg, over_all)])
    return stacked_image([*(x.part for x in rankings), *(x.part for x in over_all)], suffix)


def profile_of(comparisons: Sequence[Comparison]) -> Profile:
    """Return what a picture of methods over several problems shows."""
    return Profile(
        title=f"How often within x % of the best, on {len(comparisons)} problems",
        thresholds=tuple(f"{100 * each:g} %" if each else "best" for each in THRESHOLDS),
        shares=tuple((row.method, row.shares) for row in profile(comparisons)),
    )


def _page(
    comparisons: Sequence[Comparison], rankings: Sequence[Ranking], over_all: Sequence[Profile]
) -> str:
    """Return a page without scripts: a picture and a table for each problem, and a summary."""
    parts = []
    for one, comparison in zip(rankings, comparisons, strict=True):
        parts.append(on_each_screen(ranking_svg, one))
        parts += map(html_table, comparison._tables())
    for each in over_all:
        parts += ["<h2>All problems</h2>", html_table(summary_table(summarise(comparisons)))]
        parts.append(on_each_screen(profile_svg, each))
        parts.append(html_table(profile_table(profile(comparisons))))
    return still_page("Methods side by side", parts)


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

    >>> import makespan
    >>> tasks = makespan.IndependentTasks(machines=2, durations=[3, 3, 2, 2, 2])
    >>> compared = makespan.compare({"five": tasks}, methods=["lpt", "multifit"])
    >>> [row.makespan for row in compared["five"].rows]
    [6.0, 7.0]
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
        notes = "".join(f"\n\nnote: {note}" for note in self._assumed())
        return f"{counted(len(self), 'problem')}\n{tables}{notes}"

    def _assumed(self) -> list[str]:
        notes = [getattr(one.problem, "notes", ()) for one in self.by_name.values()]
        return assumed_machines(sum(any(NO_MACHINES in note for note in own) for own in notes))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the performance profile with matplotlib."""
        return drawn(profile_of(list(self.by_name.values())).part, ax)

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
        return [*self._assumed(), *(f"left out: {line}" for line in self.left_out)]

    def _tables(self) -> Sequence[Table]:
        return [summary_table(self.summary), profile_table(self.profile)]

    def _picture(self) -> str:
        return profile_svg(profile_of(list(self.by_name.values())))
