"""All public names: where they are imported from, and the modules that they are loaded from.

What is imported from elsewhere may change from one version to the next.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

PUBLIC: dict[str, dict[str, tuple[str, ...]]] = {
    "makespan": {
        "makespan.core.costs": ("Affine", "Convex", "Price"),
        "makespan.core.errors": (
            "ExecutionError",
            "FileError",
            "InputError",
            "MakespanError",
            "MethodError",
            "MissingExtra",
            "ProblemError",
        ),
        "makespan.core.network.interconnect": ("Interconnect",),
        "makespan.core.noise": ("Noise",),
        "makespan.core.report": ("InvalidSchedule", "Report", "Violation"),
        "makespan.core.sensitivity": ("Sensitivity",),
        "makespan.core.solution": ("Bound",),
        "makespan.core.schedule": ("Schedule",),
        "makespan.divisible.model.machines": ("Master", "Worker"),
        "makespan.divisible.model.platform": ("Star",),
        "makespan.divisible.model.sources": ("Source", "Sources"),
        "makespan.divisible.problem": ("DivisibleLoad",),
        "makespan.divisible.model.tree": ("Tree", "TreeNode"),
        "makespan.flow.check": ("check",),
        "makespan.core.simulation": ("Simulation",),
        "makespan.flow.comparison.compare": ("compare",),
        "makespan.flow.comparison.several": ("Comparisons",),
        "makespan.flow.comparison.table": ("Comparison",),
        "makespan.lab.adversary.found": ("Adversary",),
        "makespan.lab.adversary.search": ("adversary",),
        "makespan.lab.experiment": ("Experiment",),
        "makespan.lab.instances": ("Grid",),
        "makespan.lab.landscape": ("Landscape", "landscape"),
        "makespan.lab.record": ("Record",),
        "makespan.lab.run": ("Results", "experiment", "records"),
        "makespan.lab.statement": ("read_experiment",),
        "makespan.flow.files.files": ("read_problem", "read_result", "save"),
        "makespan.flow.kinds": ("methods",),
        "makespan.flow.microbatches": ("bubble", "microbatches"),
        "makespan.flow.plot": ("plot",),
        "makespan.flow.predict": ("Prediction", "predict"),
        "makespan.flow.result": ("Result",),
        "makespan.flow.sensitivity": ("sensitivity",),
        "makespan.flow.simulate": ("simulate",),
        "makespan.flow.solve": ("lower_bound", "solve"),
        "makespan.lab.overview": ("Overview", "report"),
        "makespan.studio.notebook": ("board",),
        "makespan.independent.problem": ("IndependentTasks",),
        "makespan.partition.problem": ("Partition",),
        "makespan.pipeline.model": ("Stage",),
        "makespan.pipeline.problem": ("Pipeline",),
        "makespan.reduction.problem": ("Reduction",),
        "makespan.taskgraph.model.dag": ("Dag",),
        "makespan.taskgraph.model.network": ("Network",),
        "makespan.taskgraph.problem": ("TaskGraph",),
    },
    "makespan.divisible": {
        "makespan.divisible.published": ("fractions",),
        "makespan.divisible.published.rounds": ("merge_rounds", "output_rounds", "threshold"),
    },
    "makespan.execute": {
        "makespan.execute.dealing.items": ("Files",),
        "makespan.execute.execution": ("Execution", "ItemsFailed"),
        "makespan.execute.intervals": ("PipelineExecution", "run_pipeline"),
        "makespan.execute.pools.map": ("Executor", "forget", "imap", "map"),
    },
    "makespan.independent": {
        "makespan.independent.batching": ("micro_batches",),
        "makespan.independent.experts": ("Placement", "place_experts"),
    },
    "makespan.partition": {"makespan.partition.model.curves": ("Curve", "Samples")},
    "makespan.pipeline": {"makespan.pipeline.formats": ("options_for", "read_layers")},
    "makespan.reduction": {"makespan.reduction.notebook": ("estimate", "evaluate")},
    "makespan.taskgraph": {
        "makespan.taskgraph": ("formats",),
        "makespan.taskgraph.generate": ("graphs",),
    },
}
"""By place and module; ``makespan.execute.dask``, ``.mpi`` and ``.torch`` list their own."""


def lazily(place: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a place: it loads a name when that is first used."""
    home_of = {name: home for home, names in PUBLIC[place].items() for name in names}

    def found(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {place!r} has no attribute {name!r}")
        home = import_module(home_of[name])
        value = vars(home).get(name) or import_module(f"{home.__name__}.{name}")
        setattr(sys.modules[place], name, value)
        return value

    return found


def names_of(place: str) -> list[str]:
    """Return the public names of a place.

    >>> names_of("makespan.reduction")
    ['estimate', 'evaluate']
    """
    return sorted(name for names in PUBLIC[place].values() for name in names)
