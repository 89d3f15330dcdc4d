"""Run on all ranks: training on unlike shares against one process on the global batches.

Prints what was wrong, as JSON. The times of steps are made up, so nothing depends on the machine.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from makespan.execute.torch import Calibration, Shares, UnevenSampler, calibrate, tuned, weigh

SAMPLES, BATCH, FACTORS = 500, 48, (1.0, 2.0, 4.0)
wrong: list[str] = []


def expect(what: str, truth: Any) -> None:
    if not truth:
        wrong.append(f"rank {os.environ['RANK']}: {what}")


def costs(factors: Any) -> Calibration:
    """Return what ranks cost that take so many milliseconds a sample."""
    sizes = (1, 16, 48)
    times = tuple(tuple(factor * size / 1e3 for size in sizes) for factor in factors)
    memory = tuple(tuple(100.0 * size for size in sizes) for _ in factors)
    return Calibration(sizes=sizes, times=times, memory=memory)


def network() -> nn.Module:
    torch.manual_seed(5)
    layers = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
    return nn.Sequential(layers, nn.Linear(32, 1)).double()


def data() -> TensorDataset:
    torch.manual_seed(6)
    x = torch.randn(SAMPLES, 6).double()
    return TensorDataset(x, x.prod(dim=1, keepdim=True).sin())


def alone(model: nn.Module, set_: TensorDataset, steps: int, weights: Any = None) -> nn.Module:
    """Train in one process on the global batches."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sampler = UnevenSampler(set_, BATCH, rank=0, ranks=1, seed=3)
    done = 0
    while done < steps:
        for batch in sampler:
            x, y = set_[batch]
            loss = (model(x) - y) ** 2
            if weights is not None:
                loss = loss * weights[batch][:, None] / weights[batch].mean()
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()
            done += 1
            if done == steps:
                break
        sampler.set_epoch(sampler.epoch + 1)
    return model


def trained(steps: int, *, slow_from: int = 10**9, memory: Any = None, fast: Any = None) -> Any:
    """Train on all ranks; return the parameters' greatest distance from one process's, and shares.

    From step ``slow_from`` on the first rank is said to be five times as slow.
    """
    shares, set_ = Shares(costs(FACTORS), BATCH, memory=memory), data()
    told, step = shares.observe, 0

    def observe(samples: Any, seconds: Any) -> None:
        expect("a step took no time", step < 3 or min(seconds) > 0)
        speeds = [FACTORS[0] * (5 if step > slow_from else 1), *FACTORS[1:]]
        took = [count * speed / 1e3 for count, speed in zip(samples, speeds, strict=True)]
        told(samples, took)

    shares.observe = observe  # type: ignore[method-assign]
    model = DistributedDataParallel(copy.deepcopy(network()), bucket_cap_mb=0.002)
    weights = weigh(model, shares, all_reduce=fast)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sampler = UnevenSampler(set_, shares, seed=3)
    loader = DataLoader(set_, batch_sampler=sampler)
    while step < steps:
        for x, y in loader:
            optimizer.zero_grad()
            for (part, wanted), share in weights.parts(x, y):
                (share * ((model(part) - wanted) ** 2).mean()).backward()
            optimizer.step()
            step += 1
            if step % 10 == 0:
                with torch.no_grad():
                    model(x)  # counts for nothing
            if step == steps:
                break
        sampler.set_epoch(sampler.epoch + 1)
    same = alone(network(), set_, steps).parameters()
    both = zip(model.parameters(), same, strict=True)
    return max(float((one - other).abs().max()) for one, other in both), shares


def by_tokens() -> float:
    """Train with losses that are means over tokens; return the distance from one process's."""
    set_, weights = data(), torch.arange(1, SAMPLES + 1).double() % 7 + 1
    model = DistributedDataParallel(network())
    at: list[Any] = []
    weigh(model, count=lambda x: float(weights[at[0]].sum()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    sampler = UnevenSampler(set_, BATCH, seed=3, lengths=weights.tolist())
    for batch in sampler:
        at[:] = [batch]
        x, y = set_[batch]
        loss = (weights[batch][:, None] * (model(x) - y) ** 2).sum() / weights[batch].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    both = zip(
        model.parameters(), alone(network(), set_, len(sampler), weights).parameters(), strict=True
    )
    return max(float((one - other).abs().max()) for one, other in both)


def measured() -> None:
    """Measure a step that runs out of memory on one rank."""
    rank, model = int(os.environ["RANK"]), network()

    def step(samples: int) -> None:
        if rank == 1 and samples > 8:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        model(torch.randn(samples, 6).double()).sum().backward()

    found = calibrate(step, [8, 2, 32], energy=iter(range(100)).__next__, progress=False)
    expect("sizes", found.sizes == (2, 8, 32))
    fits = [[seconds < float("inf") for seconds in row] for row in found.times]
    expect("times", fits == [[True] * 3, [True, True, False], [True] * 3])
    expect("energy", found.energy[0] == (1 / 3,) * 3)
    expect("memory", found.memory[0][0] > 1e6)
    shares = Shares(found, 60, accumulate=False)
    expect("no more than fits", shares.counts[1] <= 8)


if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    measured()
    far, shares = trained(100)
    expect(f"100 steps: {far}", far < 1e-12)
    expect("shares", shares.counts == (28, 13, 7) and len(shares.changes) == 1)
    far, shares = trained(30, slow_from=10)
    expect(f"a drift: {far}", far < 1e-12)
    expect(f"after a drift {shares.changes}", shares.counts[1] > shares.counts[0])
    far, shares = trained(15, memory=[450.0, None, 300.0])
    expect(f"in parts: {far}", far < 1e-12)
    expect("parts", shares.pieces(0) == [4] * 7 and shares.pieces(1) == [13])
    far, _ = trained(15, fast=tuned(seconds=0.5, progress=False))
    expect(f"with planned sums: {far}", far < 1e-12)
    far = by_tokens()
    expect(f"by tokens: {far}", far < 1e-12)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    sys.stdout.write(f"{json.dumps(wrong)}\n")
