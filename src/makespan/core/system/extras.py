"""Libraries that are not always there: what installs each, and an error that says so."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from makespan.core.errors import MissingExtra

EXTRAS = {
    "dask": "dask",
    "distributed": "dask",
    "joblib": "joblib",
    "matplotlib": "plot",
    "mpi4py": "mpi",
    "networkx": "graphs",
    "ortools": "exact",
    "pandas": "frames",
    "polars": "frames",
    "starlette": "serve",
    "uvicorn": "serve",
}
"""The extra of makespan that installs a library."""


def missing(library: str) -> str | None:
    """Return what to say of a library that is not installed; None where it is."""
    if find_spec(library) is not None:
        return None
    return f"{library} is not installed: 'pip install makespan[{EXTRAS[library]}]' brings it"


def optional(name: str) -> Any:
    """Import a module of a library that an extra installs.

    Raises
    ------
    MissingExtra
        If it can't be imported; with the extra.

    Examples
    --------
    >>> optional("networkx").__name__
    'networkx'
    """
    try:
        return import_module(name)
    except (ImportError, RuntimeError) as error:  # MPI's library may be missing, too
        library = name.partition(".")[0]
        raise MissingExtra(
            missing(library)
            or f"{library} can't be used ({error}); 'makespan[{EXTRAS[library]}]' needs another"
        ) from error
