"""Training on unlike ranks gives what one process gives on the global batches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.execute.torch.launch import launch

PROGRAMS = Path(__file__).parent


def test_three_ranks_train_as_one_process():
    """Whatever the shares, drifts, pieces and sums; and a calibration meets a full memory."""
    assert launch(3, PROGRAMS / "training.py") == [[], [], []]


def test_sums_by_a_plan_are_those_of_gloo():
    """For all shapes, types and operations, also where plans are used that don't pay."""
    assert launch(4, PROGRAMS / "summing.py") == [[], [], [], []]


def test_the_page_runs_as_it_stands(tmp_path):
    """All code of docs/torch.md, on three ranks."""
    assert launch(3, PROGRAMS / "page.py", tmp_path) == [[True] * 3] * 3


def test_nothing_loads_torch_before_it_is_used():
    """Neither makespan nor its engines, nor the module itself."""
    names = "makespan, makespan.execute, makespan.execute.torch as there, sys"
    code = f"import {names}; print('torch' in sys.modules, len(there.__all__) > 5)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
