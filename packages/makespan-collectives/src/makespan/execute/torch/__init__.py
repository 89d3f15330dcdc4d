"""Training on unlike ranks of PyTorch: shares of each batch, weighted gradients, planned sums.

Measure a step, share the batch out, let gradients count by samples. Needs PyTorch:
``makespan[torch]``; it is imported when something here is first used.
"""

from __future__ import annotations

from makespan.execute.torch.calibration import Calibration, calibrate
from makespan.execute.torch.sampler import UnevenSampler
from makespan.execute.torch.shares import Shares
from makespan.execute.torch.tuned import Tuned, tuned
from makespan.execute.torch.weights import Weights, weigh

__all__ = [
    "Calibration",
    "Shares",
    "Tuned",
    "UnevenSampler",
    "Weights",
    "calibrate",
    "tuned",
    "weigh",
]
