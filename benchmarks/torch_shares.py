"""Training on ranks that are throttled 1 : 2 : 4: even batches, shares, and a rank that slows.

``python -m benchmarks.torch_shares`` with a Python that has PyTorch writes the table. A rank sleeps
so many milliseconds for each sample of its batch, so that the least time of a step is known.
"""

from __future__ import annotations

import json
import os
import sys
import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.table import Table
from makespan import Partition, solve

BATCH, UNIT = 168, 2e-3
FACTORS, SLOWED = (1.0, 2.0, 4.0), (3.0, 2.0, 4.0)
STEPS, FROM = 60, 30  # in all, and where a rank slows
NEAR = 1.05
RUNS = ("even", "shares", "slowed")


def inside(which: str) -> None:
    """Run on every rank: train, and print what each step took."""
    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, TensorDataset

    from makespan.execute.torch import Shares, UnevenSampler, calibrate, weigh

    torch.distributed.init_process_group("gloo")
    factor = FACTORS[rank := int(os.environ["RANK"])]
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
    data = TensorDataset(torch.randn(STEPS * BATCH, 32), torch.randn(STEPS * BATCH, 1))

    def throttled(x: Any) -> Any:
        time.sleep(len(x) * UNIT * factor)
        return net(x)

    class Throttled(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def forward(self, x: Any) -> Any:
            return throttled(x)

    begin = time.perf_counter()
    shares: Any = BATCH
    if which != "even":
        costs = calibrate(
            lambda samples: throttled(data.tensors[0][:samples]).sum().backward(),
            [8, 32, 96],
            progress=False,
        )
        shares = Shares(costs, BATCH)
    measuring = time.perf_counter() - begin
    loader = DataLoader(data, batch_sampler=UnevenSampler(data, shares, seed=1))
    model = DistributedDataParallel(Throttled())
    weigh(model, shares if which != "even" else None)
    optimizer, took = torch.optim.SGD(model.parameters(), lr=1e-3), []
    torch.distributed.barrier()
    begin = time.perf_counter()
    for step, (x, y) in enumerate(loader):
        if which == "slowed" and step == FROM:
            factor = SLOWED[rank]
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        now = time.perf_counter()
        took.append(now - begin)
        begin = now
    counts = [56] * 3 if which == "even" else list(shares.counts)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    print(json.dumps({"took": took, "counts": counts, "measuring": measuring}))


def bound(factors: tuple[float, ...]) -> float:
    """Return the least seconds of a step whose ranks sleep so long, and do nothing else."""
    costs = [UNIT * factor * np.arange(BATCH + 1) for factor in factors]
    found = solve(Partition(tasks=BATCH, costs=costs)).makespan
    assert found is not None
    return float(found)


def main() -> None:
    """Measure all, and write the table."""
    from tests.execute.torch.launch import launch

    table = Table(
        "torch_shares",
        "Training steps on three ranks of PyTorch, throttled 1 : 2 : 4",
        f"A rank sleeps {UNIT * 1e3:g}, {UNIT * 2e3:g} or {UNIT * 4e3:g} ms for each sample; gloo, "
        f"{STEPS} steps with global batches of {BATCH}; the first two are left out. The bound is "
        "the least time of steps that sleep and do nothing else. Slowed: the first rank is three "
        f"times as slow from step {FROM} on; recovered after so many steps, until one took at "
        f"most {NEAR} times the new bound; the median is of all steps from that on.",
        ("", "shares", "step, median", "bound", "step / bound", "recovered after", "measuring"),
        clock="wall time",
    )
    medians = {}
    for which in RUNS:
        found = launch(3, "-m", "benchmarks.torch_shares", which)[0]
        least, took, late = bound(FACTORS), found["took"][2:], ""
        if which == "slowed":
            least, after = bound(SLOWED), found["took"][FROM:]
            slow = next(step for step, seconds in enumerate(after) if seconds <= NEAR * least)
            late, took = f"{slow} steps", after[slow:]
            print([round(seconds / least, 3) for seconds in after], file=sys.stderr)
        medians[which] = median(took)
        counts = ", ".join(map(str, found["counts"]))
        measuring = "" if which == "even" else found["measuring"]
        ratio = f"{medians[which] / least:.3f}"
        table.add(which, counts, medians[which], least, ratio, late, measuring)
    gain = f"**{medians['even'] / medians['shares']:.2f}**"
    table.add("even / shares", "", gain, "", "", "", "")
    table.write()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        inside(sys.argv[1])
    else:
        main()
