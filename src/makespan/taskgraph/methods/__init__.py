"""Methods for task graphs, one a file, named as in the literature."""

AUTO = (
    *("pareto", "given-plan", "hu", "coffman-graham", "heft", "branch-and-bound"),
    *("peft", "cpop", "mcp", "single-machine", "loss", "gain"),
    *("cumulative", "local-search", "duplication"),
    *("dominant-sequence-clustering", "linear-clustering"),
    *("etf", "sufferage", "lookahead", "edge-zeroing"),
    *("local-search", "cp-sat", "cp-sat-transfers"),
)
"""What ``auto`` tries in turn: the quick methods, then search from the best of their plans.

Duplication, where it is allowed, takes longer on large graphs than the first local search, which
comes once more before the methods that take longer still.
"""

SHARED = {
    "assigned": ("given-plan", "single-machine"),
    "clusterings": ("edge-zeroing", "linear-clustering"),
    "completion-times": ("dls", "etf", "mct", "min-min", "max-min", "duplex", "sufferage"),
    "cp-sat": ("cp-sat", "cp-sat-transfers"),
    "equal-tasks": ("hu", "coffman-graham"),
    "heft": ("heft", "peft", "lookahead", "cpop", "mcp"),
    "list-scheduling": ("list-scheduling", "mapping-heuristic"),
    "prices": ("loss", "gain", "pareto"),
    "uncertain-durations": ("monte-carlo", "sample-average"),
}
"""Files of methods that are alike."""
