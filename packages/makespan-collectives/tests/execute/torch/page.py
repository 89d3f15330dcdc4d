"""Run on all ranks: the code of docs/torch.md, with what it presumes."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(0)
    x, y = torch.randn(512, 4), torch.randn(512, 1)
    known = {
        "x": x,
        "y": y,
        "net": torch.nn.Linear(4, 1),
        "loss": torch.nn.functional.mse_loss,
        "data": TensorDataset(x, y),
        "tokens": list(range(512)),
        "tensor": torch.ones(100_000),
        "DataLoader": DataLoader,
        "DistributedDataParallel": DistributedDataParallel,
    }
    page = Path(__file__).parents[5] / "docs" / "torch.md"
    os.chdir(sys.argv[1])
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.M):
        exec(block, known)
    total = torch.tensor([sum(map(len, known["sampler"]))])
    known["fast"].all_reduce(total)
    right = [int(total) == 512, float(known["tensor"][0]) == 3.0, len(known["fast"].choices) == 1]
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    sys.stdout.write(f"{right}\n".lower())
