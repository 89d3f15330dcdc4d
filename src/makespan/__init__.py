"""Plans parallel work when moving data costs time.

problem ──solve──▶ result ──check, plot, simulate, run

>>> import makespan
>>> star = makespan.Star([makespan.Worker(send=1.0, compute=3.0)])
>>> makespan.solve(makespan.DivisibleLoad(load=10.0, platform=star)).makespan
40.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from makespan._version import __version__

if TYPE_CHECKING:
    from makespan.core.costs import Affine as Affine
    from makespan.core.errors import (
        ExecutionError as ExecutionError,
        FileError as FileError,
        InputError as InputError,
        InvalidSchedule as InvalidSchedule,
        MakespanError as MakespanError,
        MethodError as MethodError,
        MissingExtra as MissingExtra,
        ProblemError as ProblemError,
    )
    from makespan.core.report import Report as Report, Violation as Violation
    from makespan.core.schedule import Schedule as Schedule
    from makespan.core.simulation.noise import Noise as Noise
    from makespan.core.simulation.outcome import Simulation as Simulation
    from makespan.core.solution import Bound as Bound
    from makespan.divisible.model.platform import Master as Master, Star as Star, Worker as Worker
    from makespan.divisible.model.tree import Tree as Tree, TreeNode as TreeNode
    from makespan.divisible.problem import DivisibleLoad as DivisibleLoad
    from makespan.flow.bound import lower_bound as lower_bound
    from makespan.flow.check import check as check
    from makespan.flow.comparison.compare import compare as compare
    from makespan.flow.comparison.table import Comparison as Comparison
    from makespan.flow.files.files import (
        read_problem as read_problem,
        read_result as read_result,
        save as save,
    )
    from makespan.flow.methods import methods as methods
    from makespan.flow.pictures.plot import plot as plot
    from makespan.flow.result import Result as Result
    from makespan.flow.simulate import simulate as simulate
    from makespan.flow.solve import solve as solve
    from makespan.independent.problem import IndependentTasks as IndependentTasks
    from makespan.partition.problem import Partition as Partition
    from makespan.reduction.problem import Reduction as Reduction
    from makespan.taskgraph.model.dag import Dag as Dag
    from makespan.taskgraph.model.network import Network as Network
    from makespan.taskgraph.problem import TaskGraph as TaskGraph

_HOMES = {
    "makespan.core.costs": ("Affine",),
    "makespan.core.errors": (
        "ExecutionError",
        "FileError",
        "InputError",
        "InvalidSchedule",
        "MakespanError",
        "MethodError",
        "MissingExtra",
        "ProblemError",
    ),
    "makespan.core.simulation.noise": ("Noise",),
    "makespan.core.report": ("Report", "Violation"),
    "makespan.core.solution": ("Bound",),
    "makespan.core.schedule": ("Schedule",),
    "makespan.divisible.model.platform": ("Master", "Star", "Worker"),
    "makespan.divisible.problem": ("DivisibleLoad",),
    "makespan.divisible.model.tree": ("Tree", "TreeNode"),
    "makespan.flow.bound": ("lower_bound",),
    "makespan.flow.check": ("check",),
    "makespan.core.simulation.outcome": ("Simulation",),
    "makespan.flow.comparison.compare": ("compare",),
    "makespan.flow.comparison.table": ("Comparison",),
    "makespan.flow.files.files": ("read_problem", "read_result", "save"),
    "makespan.flow.methods": ("methods",),
    "makespan.flow.pictures.plot": ("plot",),
    "makespan.flow.result": ("Result",),
    "makespan.flow.simulate": ("simulate",),
    "makespan.flow.solve": ("solve",),
    "makespan.independent.problem": ("IndependentTasks",),
    "makespan.partition.problem": ("Partition",),
    "makespan.reduction.problem": ("Reduction",),
    "makespan.taskgraph.model.dag": ("Dag",),
    "makespan.taskgraph.model.network": ("Network",),
    "makespan.taskgraph.problem": ("TaskGraph",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Load a public name from its module when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'makespan' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
