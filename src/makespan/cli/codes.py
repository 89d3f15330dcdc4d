"""The exit codes."""

from __future__ import annotations

DONE = 0
INTERNAL = 1
USAGE = 2
INFEASIBLE = 3
NOTHING_FOUND = 4
CHECK_FAILED = 5
INTERRUPTED = 130
TERMINATED = 143
