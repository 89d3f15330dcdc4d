"""Random pipelines, as in the experiments of the literature."""

import numpy as np

from makespan.core.inputs.rules import Mistakes, Rule, whole
from makespan.core.network.interconnect import Interconnect
from makespan.pipeline.problem import MACHINES, OBJECTIVES, ORDERS, Pipeline

MAX_STAGES = 2_000_000
MEMORY_USED = Rule(
    "a share of memory that is used is above 0 and at most 1", high=1.0, strictly=True
)


def generate(
    rng: np.random.Generator,
    *,
    stages: int = 20,
    machines: int = 6,
    work: float = 10.0,  # the greatest of a stage, from a twentieth of it on, uniform
    data: float = 10.0,  # the same
    fastest: int = 20,  # speeds are whole numbers from 1 on, as of Benoit and Robert's experiments
    rate: float = 10.0,  # of all links, as the latency; ``inf`` for none
    latency: float = 0.0,
    memory_used: float = 0.5,  # the share of all memory that stages need, 1 unit each on average
    objective: str = "period",  # as of :class:`makespan.Pipeline`
    order: str = "free",
    overlap: bool = True,
) -> Pipeline:
    """Return a random pipeline.

    Raises ProblemError with every option that is not allowed.

    >>> generate(np.random.default_rng(0), stages=3, machines=2).speeds.tolist()
    [18.0, 13.0]
    """
    mistakes = Mistakes()
    mistakes.number("stages", stages, whole("stages are", high=MAX_STAGES))
    mistakes.number("machines", machines, MACHINES)
    mistakes.number("work", work, Rule("a work is above 0 units", strictly=True))
    mistakes.number("data", data, Rule("data are 0 or more units"))
    mistakes.number("fastest", fastest, whole("a speed is"))
    mistakes.number("rate", rate, Rule("a rate is above 0", strictly=True, infinite=True))
    mistakes.number("latency", latency, Rule("a latency is 0 or more seconds"))
    mistakes.number("memory_used", memory_used, MEMORY_USED)
    mistakes.choice("objective", objective, OBJECTIVES)
    mistakes.choice("order", order, ORDERS)
    mistakes.flag("overlap", overlap)
    mistakes.raise_if_any()
    speeds = rng.integers(1, fastest, machines, endpoint=True).astype(np.float64)
    columns = {
        "work": work * rng.uniform(0.05, 1.0, stages),
        "data": data * rng.uniform(0.05, 1.0, stages),
        "memory": np.ones(stages),
    }
    share = rng.uniform(0.5, 1.5, machines)
    memory = np.ceil(share / share.sum() * stages / memory_used)
    return Pipeline(
        columns, Interconnect(machines, rate=rate, latency=latency), speeds=speeds, memory=memory,
        price=speeds, objective=objective, order=order, overlap=overlap,
    )  # fmt: skip
