"""Measuring CPU time, and the table that every benchmark prints and writes for the docs."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from makespan import __version__

FOLDER = Path(__file__).parent.parent / "docs" / "benchmarks"


def cpu_seconds(work: Callable[[], Any], *, repeat: int = 3) -> float:
    """Return the median CPU seconds of ``repeat`` calls."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def shown_seconds(seconds: float) -> str:
    """Return seconds with three digits and a unit that fits.

    >>> shown_seconds(0.0123), shown_seconds(2.5), shown_seconds(4e-6)
    ('12.3 ms', '2.50 s', '4.00 µs')
    """
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{_three(seconds * factor)} {unit}"
    return f"{_three(seconds)} s"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Table:
    """A table that is printed row by row and written as a page of the docs.

    Parameters
    ----------
    name
        The name of the page, ``docs/benchmarks/<name>.md``.
    title, about
        Its heading, and sentences on what is measured.
    columns
        The headings of the columns.
    clock
        Which time was measured.
    """

    def __init__(
        self,
        name: str,
        title: str,
        about: str,
        columns: Sequence[str],
        *,
        clock: str = "CPU time",
    ) -> None:
        self.name = name
        self.title = title
        self.about = about
        self.columns = tuple(columns)
        self.clock = clock
        self.rows: list[tuple[str, ...]] = []
        print(title, "\n", "  ".join(self.columns), sep="")

    def add(self, *cells: object) -> None:
        """Add and print a row; floats are CPU seconds."""
        row = tuple(shown_seconds(c) if isinstance(c, float) else str(c) for c in cells)
        if len(row) != len(self.columns):
            raise ValueError(f"{len(row)} cells for {len(self.columns)} columns")
        self.rows.append(row)
        print("  ".join(row), flush=True)

    def markdown(self) -> str:
        """Return the page."""
        lines = [f"# {self.title}", "", self.about, ""]
        lines.append("| " + " | ".join(self.columns) + " |")
        lines.append("|" + "---|" * len(self.columns))
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        where = f"Python {platform.python_version()}, {platform.machine()}"
        day = datetime.now(UTC).date()
        lines += ["", f"makespan {__version__}, {where}, {self.clock}, {day}."]
        return "\n".join(lines) + "\n"

    def write(self) -> None:
        """Write the page into the docs."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{self.name}.md").write_text(self.markdown(), encoding="utf-8")


def kept_in(file: Path | None) -> dict[str, Any]:
    """Return what earlier runs left in a file."""
    return dict(json.loads(file.read_text())) if file is not None and file.exists() else {}


def keep(file: Path, rows: dict[str, Any]) -> None:
    """Leave rows in a file, for later runs and for the page of all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows))


def ratio(value: float, base: float) -> str:
    """Return ``value / base`` as a factor.

    >>> ratio(3.0, 2.0), ratio(1234.0, 1.0)
    ('1.5×', '1,230×')
    """
    return f"{float(f'{value / base:.3g}'):,g}×"
