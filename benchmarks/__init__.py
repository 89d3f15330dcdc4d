"""Benchmarks: peers, limits and makespan side by side, as ratios of CPU times."""

import os

os.environ.setdefault("MAKESPAN_COMPILE", "now")  # what is measured is warm
