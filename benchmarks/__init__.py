"""Benchmarks: peers, limits and makespan side by side, as ratios of CPU times."""
