"""Rows of experiments → a map of their instances: what they are like, and who is best where.

The name of an instance leads to its problem; what a search for adversaries found does, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from makespan.core.display import Displayable, Exportable, HasFrame, Table, as_csv, counted
from makespan.core.errors import InputError
from makespan.core.inputs.files import PathLike, read_text
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import suggesting
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.problem import Problem, is_problem
from makespan.drawing.page.tables import html_table, on_each_screen, still_page
from makespan.drawing.render import stacked_image
from makespan.drawing.scatter import Scatter, frame_of, scatter_svg
from makespan.drawing.svg import escaped
from makespan.drawing.text import percent
from makespan.flow.files.files import problem_of, read_problem
from makespan.flow.kinds import KINDS, generate
from makespan.lab.adversary.found import Adversary
from makespan.lab.adversary.search import FORMAT as FOUND
from makespan.lab.features import features
from makespan.lab.journal import read_records
from makespan.lab.record import Record
from makespan.lab.statistics import Rows, rows_of

OPTION = re.compile(r" (?=[A-Za-z_]\w*=)")


def problem_named(name: str, given: Mapping[str, Any], folder: Path) -> Problem:
    """Return the problem that a table calls by a name: given, generated, or a file.

    Files are looked for from here, then from the ``folder`` of the table. Raises InputError where
    there is none.

    >>> problem_named("independent machines=3 tasks=4 seed=1", {}, Path()).machines[2]
    'M3'
    """
    if name in given:
        found = given[name]
        return found if is_problem(found) else read_problem(found)
    kind, *options = OPTION.split(name)
    pairs = [(key, _value(text)) for key, _, text in (each.partition("=") for each in options)]
    if kind in KINDS and options and options[-1].startswith("seed="):
        return generate(kind, seed=pairs[-1][1], options=dict(pairs[:-1]))
    path = next((each for each in (Path(kind), folder / kind) if each.is_file()), None)
    if path is None:
        raise InputError(
            f"{name}: there is no such file, and it is not the name of a generated one"
        )
    return read_problem(path, **dict(pairs))


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def corners_of(given: PathLike | Problem | Adversary) -> Iterator[tuple[str, Problem]]:
    """Yield what stands out, with a label: a problem, what a search found, that in a file, or the
    worst of each chain where the file is the state of a search. Raises InputError where a file is
    neither.
    """
    if isinstance(given, Adversary):
        if given.problem is not None:
            yield f"{given.method} {given.ratio:.3g}", given.problem
        return
    if not isinstance(given, (str, Path)):
        yield "given", cast("Problem", given)
        return
    data = None
    if Path(given).suffix.lower() == ".json":
        with suppress(ValueError):  # which the reader of problems tells
            data = json.loads(read_text(given))
    if not isinstance(data, dict) or data.get("format") != FOUND:
        yield Path(given).stem, read_problem(given)
        return
    for chain in data["chains"]:
        if chain["best"] is not None:
            yield (
                f"{data['search']['method'][0]} {chain['best_ratio']:.3g}",
                problem_of(chain["best"]),
            )


FORMAT = "makespan.landscape/1"
LEAST = 3  # instances that make a map
CELLS = (40, 64)  # rows and columns of the regions
NEAREST = 5  # instances that decide about a cell
TOLD = 3  # features of an axis, and of where a method is best
SAME = 1e-9  # ratios nearer than this are alike
ALIKE = "several alike"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Landscape(Displayable, HasFrame, Exportable):
    """Instances by their features, in a plane; made by :func:`makespan.landscape`.

    ``values`` are instances × ``features``; ``points`` the first two principal components of these,
    standardised; ``axes`` (2 × features) their weights, ``shares`` the parts of the variance that
    they explain. ``best`` is the place in ``methods`` of the best one on each instance, -1 where
    several are alike. ``corners`` are labels with their places.

    >>> import makespan
    >>> asked = makespan.Experiment(makespan.Grid("independent", seeds=4), methods=["lpt"])
    >>> makespan.landscape(makespan.experiment(asked))
    <Landscape: independent, 4 instances, 2 features, 1 method>
    """

    SUFFIXES = (".html", ".svg", ".png", ".pdf", ".csv")

    kind: str
    instances: tuple[str, ...]
    features: tuple[str, ...]
    values: Floats
    points: Floats
    shares: tuple[float, float]
    axes: Floats
    methods: tuple[str, ...]
    best: Integers
    corners: tuple[tuple[str, float, float], ...] = ()
    notes: tuple[str, ...] = ()

    def axis(self, number: int) -> str:
        """Return what an axis stands for: its share, and the features that weigh most."""
        weights = self.axes[number]
        order = np.argsort(-np.abs(weights), kind="stable")[: TOLD - 1]
        told = [f"{'+' if weights[at] > 0 else '−'} {self.features[at]}" for at in order.tolist()]
        return f"{percent(self.shares[number])} of the variance: {', '.join(told)}"

    def scatter(self) -> Scatter:
        """Return the map as points in a plane."""
        marks = [(x, y, label) for label, x, y in self.corners]
        frame = frame_of(np.vstack([self.points, *([x, y] for x, y, _ in marks)]))
        left, bottom, right, top = frame
        rows, columns = CELLS
        across = np.linspace(left, right, 2 * columns + 1)[1::2]
        up = np.linspace(bottom, top, 2 * rows + 1)[1::2]
        told = zip(self.instances, self.best.tolist(), strict=True)
        labels = [f"{name}: {self._named(at)}" for name, at in told]
        return Scatter(
            title=f"{counted(len(self.instances), self.kind + ' instance')}, by the best method",
            across="→ " + self.axis(0), up="↑ " + self.axis(1),
            groups=self.methods, nothing=ALIKE, points=self.points, group=self.best, labels=labels,
            frame=frame, cells=_regions(self.points, self.best, across, up), marks=marks,
        )  # fmt: skip

    def _named(self, method: int) -> str:
        return ALIKE if method < 0 else self.methods[method]

    def _facts(self) -> Sequence[str]:
        counts = {"instance": self.instances, "feature": self.features, "method": self.methods}
        return [self.kind, *(counted(len(those), word) for word, those in counts.items())]

    def _notes(self) -> Sequence[str]:
        return self.notes

    def _tables(self) -> Sequence[Table]:
        counts = Counter(self.best.tolist())
        order = [each for each, _ in counts.most_common()]
        wins = {
            "best": [self._named(each) for each in order],
            "instances": [f"{counts[each]:,}" for each in order],
            "where": [self._where(each) for each in order],
        }
        axes = {"axis": ["→", "↑"], "stands for": [self.axis(0), self.axis(1)]}
        return Table.of(wins), Table.of(axes)

    def _where(self, method: int) -> str:
        """Return by which features the instances of a method differ, in standard deviations."""
        scaled = (self.values - self.values.mean(axis=0)) / self.values.std(axis=0)
        away = scaled[self.best == method].mean(axis=0)
        told = [
            f"{self.features[at]} {away[at]:+.1f}".replace("-", "−")
            for at in np.argsort(-np.abs(away), kind="stable")[:TOLD].tolist()
            if abs(away[at]) >= 0.05
        ]
        return ", ".join(told) or "everywhere"

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self._tables()), *self.notes])

    def as_dict(self) -> dict[str, Any]:
        """Return the map as it stands in JSON."""
        corners = [{"label": label, "x": x, "y": y} for label, x, y in self.corners]
        head = {"format": FORMAT, "kind": self.kind, "axes": [self.axis(0), self.axis(1)]}
        columns = {name: list(column) for name, column in self._columns().items()}
        return {**head, "columns": columns, "corners": corners, "notes": list(self.notes)}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        best = [self._named(at) for at in self.best.tolist()]
        x, y = self.points.T.tolist()
        columns = {"instance": self.instances, "best": best, "x": x, "y": y}
        return columns | dict(zip(self.features, self.values.T.tolist(), strict=True))

    def _picture(self) -> str:
        return scatter_svg(self.scatter())

    def _in_form(self, suffix: str) -> str | bytes:
        if suffix == ".csv":
            return as_csv(self._columns())
        if suffix in (".png", ".pdf"):
            return stacked_image([self.scatter().part], suffix)
        if suffix == ".svg":
            return self._picture()
        parts = [f"<p>{escaped(', '.join(self._facts()))}</p>"]
        parts += [on_each_screen(scatter_svg, self.scatter())]
        parts += [html_table(table) for table in self._tables()]
        parts += [f"<p>{escaped(note)}</p>" for note in self.notes]
        return still_page("A map of instances", parts)


@suggesting
def landscape(
    *tables: PathLike | Iterable[Record],
    kind: str | None = None,
    corners: Sequence[PathLike | Problem | Adversary] = (),
    instances: Mapping[str, PathLike | Problem] | None = None,
) -> Landscape:
    """Draw the instances of experiments as a map: where which method is best.

    Parameters
    ----------
    tables
        As of :func:`makespan.report`: files that :func:`makespan.experiment` wrote, its
        :class:`makespan.Results`, or other iterables of rows.
    kind
        Whose instances are drawn, where the tables hold several kinds.
    corners
        What stands out: what :func:`makespan.adversary` found, its files (the state, or the worst
        problem), other files of problems, or problems.
    instances
        The problems, or their files, of instances by name. Without, names are those of generated
        problems, or paths from here or from the folder of the table.

    Returns
    -------
    Landscape
        ``print``, ``to_polars()``, :func:`makespan.save` as a page, a picture, or ``.csv``.

    Raises
    ------
    InputError
        If fewer than three instances of the kind are there, or all are alike.
    FileError
        If a file can't be read.

    Features are standardised and projected on their first two principal components (Pearson 1901).
    A region is that of the method which is best on most of the five nearest instances. Complexity:
    O(instances × features²).

    >>> import makespan
    >>> grid = makespan.Grid("independent", options={"tasks": [5, 9], "machines": 3}, seeds=6)
    >>> asked = makespan.Experiment(grid, methods=["lpt", "multifit"])
    >>> found = makespan.landscape(makespan.experiment(asked))
    >>> found.points.shape, found.shares[0] > 0.5
    ((12, 2), True)
    """
    records, folder = [], Path()
    for table in tables:
        if isinstance(table, (str, Path)):
            folder = Path(table).parent
            records += list(read_records(table))
        else:
            records += list(table)  # type: ignore[arg-type]
    kinds = sorted({record.kind for record in records if record.kind})
    if not kinds:
        raise InputError("there is no row to map")
    if kind is None and len(kinds) > 1:
        raise InputError(f"kind: the tables hold {', '.join(kinds)}; a map is of one")
    if kind is not None and kind not in kinds:
        raise InputError(f"kind: {quoted(kind)} is not in the tables; {', '.join(kinds)} are")
    rows = rows_of(record for record in records if record.kind == (kind or kinds[0]))
    found: dict[str, dict[str, float]] = {}
    lacking = []
    for name in dict.fromkeys(rows.instances):
        try:
            found[name] = features(problem_named(name, instances or {}, folder))
        except InputError as error:
            lacking.append(str(error))
    if len(found) < LEAST:
        why = f": {lacking[0]}" if lacking else ""
        raise InputError(f"a map needs {LEAST} instances, and {len(found)} are there{why}")
    notes = [f"{counted(len(lacking), 'instance')} left out: {lacking[0]}"] if lacking else []
    return _map(kind or kinds[0], rows, found, corners, notes)


def _map(
    kind: str, rows: Rows, found: Mapping[str, Mapping[str, float]], corners: Iterable[Any],
    notes: list[str],
) -> Landscape:  # fmt: skip
    """Return the map: standardised features, and their first two principal components."""
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    values = np.array([[each.get(name, np.nan) for name in names] for each in found.values()])
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    differ = np.ptp(values, axis=0) > SAME * np.abs(values).max(axis=0)
    if not differ.any():
        raise InputError("all instances are alike in every feature; there is nothing to map")
    values, names = values[:, differ], [n for n, d in zip(names, differ, strict=True) if d]
    mean, scale = values.mean(axis=0), values.std(axis=0)
    _, singular, axes = np.linalg.svd((values - mean) / scale, full_matrices=False)
    axes = np.vstack([axes, np.zeros_like(axes[:1])])[:2]
    heaviest = axes[np.arange(2), np.argmax(np.abs(axes), axis=1)]
    axes = axes * np.where(heaviest < 0, -1.0, 1.0)[:, None]
    shares = np.append(singular**2 / (singular**2).sum(), 0.0)[:2]
    placed = []
    for label, problem in (one for each in corners for one in corners_of(each)):
        if problem.kind != kind:
            raise InputError(f"corners: {label} is of kind {problem.kind}; the map is of {kind}")
        own = features(problem)
        row = np.array([own.get(name, usual) for name, usual in zip(names, mean, strict=True)])
        placed.append((label, *(axes @ ((row - mean) / scale)).tolist()))
    return Landscape(
        kind=kind, instances=tuple(found), features=tuple(names), values=values, axes=axes,
        points=((values - mean) / scale) @ axes.T, shares=(float(shares[0]), float(shares[1])),
        methods=rows.methods, best=_best(rows, found), corners=tuple(placed), notes=tuple(notes),
    )  # fmt: skip


def _best(rows: Rows, found: Mapping[str, object]) -> Integers:
    """Return the method with the least mean ratio on each instance; -1 where several have it."""
    ratios, place = rows.ratios, {name: at for at, name in enumerate(found)}
    sums, counts = np.zeros((len(found), len(rows.methods))), np.zeros(len(found))
    for case, name in enumerate(rows.instances):
        if name in place:
            sums[place[name]] += np.log(ratios[case])
            counts[place[name]] += 1
    means = sums / counts[:, None]
    least = means.min(axis=1, keepdims=True)
    first = np.isfinite(least) & (means <= least + SAME)
    chosen: Integers = np.where(first.sum(axis=1) == 1, first.argmax(axis=1), -1)
    return chosen


def _regions(points: Floats, best: Integers, across: Floats, up: Floats) -> Integers:
    """Return for each cell of a grid which method is best on most of the nearest instances.

    Of several, that of the nearest instance. Complexity: O(cells × instances).
    """
    cells = np.array([(x, y) for y in up for x in across])
    span = np.ptp(points, axis=0)
    span[span == 0] = 1.0
    away = (((cells[:, None] - points[None]) / span) ** 2).sum(axis=2)
    nearest = best[np.argsort(away, axis=1, kind="stable")[:, :NEAREST]]
    votes = (nearest[:, :, None] == nearest[:, None, :]).sum(axis=2)
    chosen: Integers = nearest[np.arange(len(cells)), votes.argmax(axis=1)]
    return chosen.reshape(len(up), len(across))
