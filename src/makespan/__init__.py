"""Plans parallel work when moving data costs time.

problem ──solve──▶ result ──check, plot, simulate, run

>>> import makespan
>>> star = makespan.Star([makespan.Worker(send=1.0, compute=3.0)])
>>> makespan.solve(makespan.DivisibleLoad(load=10.0, platform=star)).makespan
40.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from makespan._public import lazily, names_of
from makespan._renderers import LoadedWhenUsed
from makespan._version import __version__
from makespan.core.display import register_renderers

if TYPE_CHECKING:
    from makespan.core.costs import Affine as Affine, Convex as Convex, Price as Price
    from makespan.core.errors import (
        ExecutionError as ExecutionError,
        FileError as FileError,
        InputError as InputError,
        MakespanError as MakespanError,
        MethodError as MethodError,
        MissingExtra as MissingExtra,
        ProblemError as ProblemError,
    )
    from makespan.core.network.interconnect import Interconnect as Interconnect
    from makespan.core.noise import Noise as Noise
    from makespan.core.report import (
        InvalidSchedule as InvalidSchedule,
        Report as Report,
        Violation as Violation,
    )
    from makespan.core.schedule import Schedule as Schedule
    from makespan.core.sensitivity import Sensitivity as Sensitivity
    from makespan.core.simulation import Simulation as Simulation
    from makespan.core.solution import Bound as Bound
    from makespan.divisible.model.machines import Master as Master, Worker as Worker
    from makespan.divisible.model.platform import Star as Star
    from makespan.divisible.model.sources import Source as Source, Sources as Sources
    from makespan.divisible.model.tree import Tree as Tree, TreeNode as TreeNode
    from makespan.divisible.problem import DivisibleLoad as DivisibleLoad
    from makespan.flow.check import check as check
    from makespan.flow.comparison.compare import compare as compare
    from makespan.flow.comparison.several import Comparisons as Comparisons
    from makespan.flow.comparison.table import Comparison as Comparison
    from makespan.flow.files.files import (
        read_problem as read_problem,
        read_result as read_result,
        save as save,
    )
    from makespan.flow.kinds import methods as methods
    from makespan.flow.microbatches import bubble as bubble, microbatches as microbatches
    from makespan.flow.plot import plot as plot
    from makespan.flow.predict import Prediction as Prediction, predict as predict
    from makespan.flow.result import Result as Result
    from makespan.flow.sensitivity import sensitivity as sensitivity
    from makespan.flow.simulate import simulate as simulate
    from makespan.flow.solve import lower_bound as lower_bound, solve as solve
    from makespan.independent.problem import IndependentTasks as IndependentTasks
    from makespan.lab.adversary.found import Adversary as Adversary
    from makespan.lab.adversary.search import adversary as adversary
    from makespan.lab.experiment import Experiment as Experiment
    from makespan.lab.instances import Grid as Grid
    from makespan.lab.landscape import Landscape as Landscape, landscape as landscape
    from makespan.lab.overview import Overview as Overview, report as report
    from makespan.lab.record import Record as Record
    from makespan.lab.run import Results as Results, experiment as experiment, records as records
    from makespan.lab.statement import read_experiment as read_experiment
    from makespan.partition.problem import Partition as Partition
    from makespan.pipeline.model import Stage as Stage
    from makespan.pipeline.problem import Pipeline as Pipeline
    from makespan.reduction.problem import Reduction as Reduction
    from makespan.studio.notebook import board as board
    from makespan.taskgraph.model.dag import Dag as Dag
    from makespan.taskgraph.model.network import Network as Network
    from makespan.taskgraph.problem import TaskGraph as TaskGraph

register_renderers(LoadedWhenUsed())

__all__ = ["__version__", *names_of("makespan")]  # noqa: PLE0604
__getattr__ = lazily("makespan")


def __dir__() -> list[str]:
    return list(__all__)
