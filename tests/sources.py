"""Where the modules of this checkout lie, for processes that tests and benchmarks start."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from makespan import MissingExtra

ROOT = Path(__file__).parents[1]
ENGINES = [ROOT / "packages" / name for name in ("makespan-dask", "makespan-collectives")]
"""The distributions that hold modules of ``makespan.execute``; ``tests`` has parts in them, too."""
PLACES = [place for each in (ROOT, *ENGINES) for place in (each, each / "src")]
SOURCES = os.pathsep.join(map(str, PLACES))  # also where another tree is installed


def is_installed(engine: str) -> bool:
    """Whether an engine of them can be imported: the tests of makespan itself do without."""
    try:
        import_module(engine)
    except MissingExtra:
        return False
    return True


def python_path(*more: str) -> str:
    """Return a ``PYTHONPATH`` of all of them, of ``more``, and of what is on it already."""
    return os.pathsep.join([SOURCES, *more, *filter(None, [os.environ.get("PYTHONPATH")])])
