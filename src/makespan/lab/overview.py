"""How methods did over all rows of experiments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from makespan.core.cached import cached_property
from makespan.core.display import (
    Displayable,
    Exportable,
    HasFrame,
    Table,
    as_csv,
    counted,
    renderers,
)
from makespan.core.errors import InputError
from makespan.core.inputs.files import PathLike
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.numeric.arrays import Floats
from makespan.core.picture import Curves
from makespan.core.problem import assumed_machines
from makespan.drawing.comparison import Profile, Ranking
from makespan.drawing.render import WIDE
from makespan.lab import statistics
from makespan.lab.journal import read_records
from makespan.lab.record import Record
from makespan.lab.statistics import Rows, critical_difference, mean_ranks, rows_of

FORMAT = "makespan.overview/1"
WORST = 10
PRINTED = 12  # families whose tables are printed as text; of more, none
ALL = "all"
NARROWEST, WIDEST = 1.5, 30.0  # inches of a panel


class MethodRow(NamedTuple):
    """How one method did on the cases of one family."""

    family: str  # ``all`` for all cases together
    method: str
    solves: int  # how many there are
    plans: int  # how many of them brought a plan
    proved: int  # how many proved it optimal
    wins: int  # on how many cases no other method did better
    mean_ratio: float  # of its makespans to the best ones: geometric mean; NaN without a plan
    worst_ratio: float  # the largest
    mean_gap: float  # of its plans; NaN where no bound is known
    worst_gap: float
    seconds: float  # in all


@dataclass(frozen=True, repr=False, eq=False)
class Overview(Displayable, HasFrame, Exportable):
    """How methods did in experiments: tables, ranks, profiles.

    Made by :func:`makespan.report`; :func:`makespan.save` writes it as a page, a picture, or a
    table of LaTeX.

    >>> import makespan
    >>> grid = makespan.Grid("independent", seeds=5)
    >>> asked = makespan.Experiment(grid, methods=["lpt", "multifit"])
    >>> overview = makespan.report(makespan.experiment(asked))
    >>> makespan.save(overview, "report.html")  # doctest: +SKIP
    >>> overview
    <Overview: 10 solves, 2 methods, 1 family>
    """

    rows: Rows
    SUFFIXES = (".html", ".svg", ".png", ".pdf", ".tex", ".csv")

    @cached_property
    def ratios(self) -> Floats:
        """What each method reached over the best, cases × methods; infinite without a plan."""
        return self.rows.ratios

    @cached_property
    def lines(self) -> tuple[MethodRow, ...]:
        """How each method did over all, the nearest to the best first, then in each family."""
        rows = self.rows
        parts = [(ALL, np.ones(len(rows.instances), dtype=bool))]
        if len(rows.families) > 1:
            parts += [(name, rows.family == index) for index, name in enumerate(rows.families)]
        found = []
        for family, cases in parts:
            lines = [self._line(family, cases, index) for index in range(len(rows.methods))]
            some = [line for line in lines if line.solves]
            found += sorted(
                some, key=lambda line: (-line.plans, line.mean_ratio if line.plans else 0)
            )
        return tuple(found)

    def _line(self, family: str, cases: NDArray[np.bool_], method: int) -> MethodRow:
        rows = self.rows
        ratios = self.ratios[cases, method]
        ratios = ratios[np.isfinite(ratios)]
        gaps = rows.gap[cases, method]
        gaps = gaps[~np.isnan(gaps)]
        return MethodRow(
            family=family,
            method=rows.methods[method],
            solves=int(rows.there[cases, method].sum()),
            plans=len(ratios),
            proved=int(rows.proved[cases, method].sum()),
            wins=int((ratios == 1.0).sum()),
            mean_ratio=float(np.exp(np.log(ratios).mean())) if len(ratios) else math.nan,
            worst_ratio=float(ratios.max(initial=-math.inf)) if len(ratios) else math.nan,
            mean_gap=float(gaps.mean()) if len(gaps) else math.nan,
            worst_gap=float(gaps.max()) if len(gaps) else math.nan,
            seconds=float(np.nansum(rows.seconds[cases, method])),
        )

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """The cases on which all methods were tried and one has a plan: those that are ranked."""
        return self.rows.there.all(axis=1) & np.isfinite(self.rows.best)

    @cached_property
    def ranks(self) -> dict[str, float]:
        """The mean rank of each method, the least first; without a plan a method is last."""
        if len(self.rows.methods) < 2 or not self.compared.any():
            return {}
        ratios: Floats = self.ratios[self.compared]
        some = ratios < 1e6  # others are told apart as they are
        ratios[some] = np.round(ratios[some], 9)
        found = mean_ranks(ratios).tolist()
        return dict(sorted(zip(self.rows.methods, found, strict=True), key=lambda pair: pair[1]))

    @property
    def critical_difference(self) -> float | None:
        """How far mean ranks have to differ to mean something, at a level of 5 %."""
        return (
            critical_difference(len(self.ranks), int(self.compared.sum())) if self.ranks else None
        )

    @cached_property
    def worst(self) -> tuple[tuple[str, int, str, float, float], ...]:
        """The widest gaps: instance, seed, method, makespan, gap."""
        rows = self.rows
        order = np.argsort(-np.nan_to_num(rows.gap, nan=-1.0).ravel(), kind="stable")[:WORST]
        cases, methods = np.unravel_index(order, rows.gap.shape)
        return tuple(
            (
                rows.instances[case],
                rows.seeds[case],
                rows.methods[method],
                float(rows.makespan[case, method]),
                float(rows.gap[case, method]),
            )
            for case, method in zip(cases.tolist(), methods.tolist(), strict=True)
            if rows.gap[case, method] > 0
        )

    def curves(self) -> tuple[Curves, ...]:
        """Return what is shown over an axis: the data profile, and times over sizes."""
        return tuple(
            filter(None, (statistics.data_profile(self.rows), statistics.times(self.rows)))
        )

    def ranking(self) -> Ranking | None:
        """Return the mean ranks as bars."""
        return statistics.ranking(self.ranks, self.critical_difference, int(self.compared.sum()))

    def profile(self) -> Profile:
        """Return on which share of the cases each method was within x % of the best."""
        return statistics.profile(self.rows)

    def panel(self, name: str, *, width: float | None = None) -> Panel:
        """Return one picture alone, for :func:`makespan.save`.

        Parameters
        ----------
        name
            ``"ranks"``, ``"critical-difference"``, ``"profile"``, ``"data-profile"`` or
            ``"times"``.
        width
            Inches; 9 if omitted. Texts have 8 points below 5 inches.

        Raises
        ------
        InputError
            If there is no such panel, or the rows have nothing to show in it.
        """
        shown: dict[str, Callable[[], Ranking | Profile | Curves | None]] = {
            "ranks": self.ranking,
            "critical-difference": self.ranking,
            "profile": self.profile,
            "data-profile": lambda: statistics.data_profile(self.rows),
            "times": lambda: statistics.times(self.rows),
        }
        if name not in shown:
            raise InputError(f"panel: there is no {quoted(name)}{did_you_mean(name, shown)}")
        width = WIDE if width is None else width
        if not NARROWEST <= width <= WIDEST:
            allowed = f"a width is {NARROWEST:g} to {WIDEST:g} inches"
            raise InputError(f"width: {width:g} is not allowed; {allowed}")
        what = shown[name]()
        if what is None:
            raise InputError(f"panel: the rows have nothing to show as {name}")
        return Panel(self, name, what, width)

    def table(self, family: str = ALL) -> Table:
        """Return the lines of a family as people read them."""
        lines = [line for line in self.lines if line.family == family]
        columns = {
            "method": [line.method for line in lines],
            "solves": [f"{line.solves:,}" for line in lines],
            "plans": [f"{line.plans:,}" for line in lines],
            "proved": [f"{line.proved:,}" for line in lines],
            "best": [f"{line.wins:,}" for line in lines],
            "mean ratio": [_number(line.mean_ratio) for line in lines],
            "worst ratio": [_number(line.worst_ratio) for line in lines],
            "mean gap": [_percent(line.mean_gap) for line in lines],
            "worst gap": [_percent(line.worst_gap) for line in lines],
            "time": [f"{line.seconds:.3f} s" for line in lines],
        }
        if family == ALL and self.ranks:
            columns["mean rank"] = [f"{self.ranks[line.method]:.2f}" for line in lines]
        return Table.of(columns, caption="" if family == ALL else family)

    def tables(self) -> tuple[Table, ...]:
        """Return the table of all cases, and of each family where there are several."""
        return tuple(self.table(family) for family in dict.fromkeys(x.family for x in self.lines))

    def __str__(self) -> str:
        first, *others = self.tables()
        texts = [str(first)]
        if len(others) <= PRINTED:
            texts += [f"{table.caption}\n{table}" for table in others]
        else:
            texts.append(f"{len(others):,} families; each has a table in a file")
        return "\n\n".join([*texts, *self._notes()])

    def as_dict(self) -> dict[str, Any]:
        """Return the lines, and the ranks, as they stand in JSON."""
        return {
            "format": FORMAT,
            "lines": [{k: _cell(v) for k, v in line._asdict().items()} for line in self.lines],
            "ranks": self.ranks,
            "critical_difference": self.critical_difference,
            "notes": list(self._notes()),
        }

    def _facts(self) -> Sequence[str]:
        rows = self.rows
        return [
            counted(int(rows.there.sum()), "solve"),
            counted(len(rows.methods), "method"),
            counted(len(rows.families), "family", "families"),
        ]

    def _notes(self) -> Sequence[str]:
        notes = []
        if self.critical_difference is not None:
            cases = counted(int(self.compared.sum()), "case")
            notes.append(
                f"mean ranks over {cases}: differences below {self.critical_difference:.2f} are "
                "not significant (Nemenyi, 5 %)"
            )
        without: dict[str, list[str]] = {}  # what was instead of a plan → the methods
        for method, others in zip(self.rows.methods, self.rows.statuses, strict=True):
            if others:
                said = ", ".join(f"{count:,} {status}" for status, count in others.items())
                without.setdefault(said, []).append(method)
        for said, methods in without.items():
            alike = 1 < len(methods) == len(self.rows.methods)
            notes.append(f"{'each method' if alike else ', '.join(methods)}: {said}")
        notes += assumed_machines(self.rows.assumed)
        if self.rows.twice:
            notes.append(
                f"{counted(self.rows.twice, 'row')} replaced by later ones of the same solve"
            )
        return notes

    def _tables(self) -> Sequence[Table]:
        return self.tables()

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {name: [getattr(x, name) for x in self.lines] for name in MethodRow._fields}

    def _picture(self) -> str:
        return str(renderers().image(self, ".svg"))

    def _in_form(self, suffix: str) -> str | bytes:
        if suffix == ".csv":
            return as_csv({name: list(map(_cell, c)) for name, c in self._columns().items()})
        return renderers().image(self, suffix)


@dataclass(frozen=True, slots=True)
class Panel(Exportable):
    """One picture of an overview, ``width`` inches wide: for a paper."""

    overview: Overview
    name: str
    what: Ranking | Profile | Curves
    width: float
    SUFFIXES = (".pdf", ".svg", ".png")

    def _in_form(self, suffix: str) -> str | bytes:
        return renderers().image(self, suffix)


def report(*tables: PathLike | Iterable[Record]) -> Overview:
    """Say how the methods of experiments did.

    Parameters
    ----------
    tables
        Files that :func:`makespan.experiment` wrote (``.csv``, ``.jsonl``, ``.json``,
        ``.parquet``), its :class:`makespan.Results`, or other iterables of rows. Where two have a
        row of the same solve, the later one counts.

    Raises
    ------
    InputError
        If there is not a single row.
    FileError
        If a file can't be read or is not the table of an experiment.

    Source: performance profiles: Dolan and Moré 2002; data profiles: Moré and Wild 2009; ranks:
    Demšar 2006.

    >>> import makespan
    >>> grid = makespan.Grid("independent", seeds=5)
    >>> asked = makespan.Experiment(grid, methods=["lpt", "multifit"])
    >>> makespan.report(makespan.experiment(asked))
    <Overview: 10 solves, 2 methods, 1 family>
    """

    def records() -> Iterable[Record]:
        for table in tables:
            yield from read_records(table) if isinstance(table, (str, Path)) else table  # type: ignore[misc]

    found = Overview(rows_of(records()))
    if not found.rows.methods:
        raise InputError("there is no row to report on")
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"


def _percent(value: float) -> str:
    return "" if math.isnan(value) else f"{100 * value:.2f} %"


def _cell(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
