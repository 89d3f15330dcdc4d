"""Methods for task graphs, one a file, named as in the literature."""

AUTO = (
    "given-plan",
    "hu",
    "coffman-graham",
    "heft",
    "duplication",
    "peft",
    "cpop",
    "mcp",
    "single-machine",
    "local-search",
    "dominant-sequence-clustering",
    "linear-clustering",
    "list-scheduling",
    "mapping-heuristic",
    "dls",
    "etf",
    "lookahead",
    "edge-zeroing",
    "local-search",
    "cp-sat",
)
"""What ``auto`` tries in turn: the quick methods, then search from the best of their plans.

Local search comes once more before the methods that take long on large graphs.
"""
