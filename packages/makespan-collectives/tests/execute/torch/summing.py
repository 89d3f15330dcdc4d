"""Run on all ranks: planned all-reduces against gloo's own; prints what was wrong as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
from functools import partial
from itertools import product
from pathlib import Path

import torch
import torch.distributed as own

from makespan.core.errors import InputError
from makespan.execute.collectives import choosing
from makespan.execute.collectives.calibration import BETWEEN, OF_RANKS, Calibration
from makespan.execute.collectives.pipelines import Pipeline
from makespan.execute.torch import tuned
from makespan.execute.torch.tuned import Planned
from makespan.execute.torch.world import Comm

wrong: list[str] = []
TREES = [(0, 0, 0, 0), (1, 1, 1, 2), (1, 2, 3, 3), (0, 0, 0, 1)]
OPERATIONS = ("SUM", "PRODUCT", "MIN", "MAX")


def compare(what: str, call, operation: str, tensor: torch.Tensor) -> None:
    """Compare a call with gloo's on the same numbers."""
    wanted = tensor.clone()
    own.all_reduce(wanted, getattr(own.ReduceOp, operation))
    call(tensor)
    if not torch.equal(wanted, tensor):
        wrong.append(f"rank {own.get_rank()}: {what}")


def numbers(length: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Return whole numbers, other ones on each rank, whose sums and products are exact."""
    seed = torch.Generator().manual_seed(own.get_rank())
    return torch.randint(1, 9, (length,), generator=seed).to(dtype)


if __name__ == "__main__":
    own.init_process_group("gloo")
    comm = Comm(own.new_group())
    combines = {
        "SUM": torch.Tensor.add_,
        "PRODUCT": torch.Tensor.mul_,
        "MIN": lambda one, other: torch.minimum(one, other, out=one),
        "MAX": lambda one, other: torch.maximum(one, other, out=one),
    }
    for parents, segments, operation in product(TREES, (1, 3, 16), OPERATIONS):
        work = Pipeline("all-reduce", parents, segments, 0.0).work(comm.rank)
        planned = Planned(comm, work, combines[operation])
        for length in (5, 1000, 1001):
            compare(f"{parents}, {segments}, {length}", planned, operation, numbers(length))
    choosing.HOPELESS = choosing.WORTH = float("inf")  # the plan is used, whatever it takes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.json"
        fast = tuned(calibration=path, seconds=0.5, progress=False)
        again = tuned(calibration=fast.calibration, progress=False)
    for length, dtype in product((100, 100_000), (torch.float32, torch.int64, torch.float64)):
        for operation in OPERATIONS:
            op = getattr(own.ReduceOp, operation)
            call = partial(fast.all_reduce, op=op)
            compare(f"{length} {dtype} {operation}", call, operation, numbers(length, dtype))
    for tensor in (numbers(200_000).view(400, 500), numbers(200_000).view(400, 500).T):
        compare(f"{tuple(tensor.shape)}", again.all_reduce, "SUM", tensor)
    small = numbers(50_000)
    compare("begin", lambda tensor: again.begin(tensor).wait(), "SUM", small)
    if {each.used for each in fast.choices} != {"plan"} or len(again.choices) != 2:
        wrong.append(f"choices: {fast.choices} {again.choices}")
    rows, row = dict.fromkeys(BETWEEN, ((0.0, 0.0),) * 2), dict.fromkeys(OF_RANKS, (0.0, 0.0))
    few = Calibration(ranks=2, type="float32", **rows, **row)
    try:
        tuned(calibration=few)
        wrong.append("a calibration of two ranks was taken for one of four")
    except InputError as error:
        if "is of 2 ranks, but there are 4" not in str(error):
            wrong.append(str(error))
    own.barrier()
    own.destroy_process_group()
    sys.stdout.write(f"{json.dumps(wrong)}\n")
