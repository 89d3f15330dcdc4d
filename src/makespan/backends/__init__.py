"""Adapters of solvers: translate, run with limits and Ctrl-C, read back."""
