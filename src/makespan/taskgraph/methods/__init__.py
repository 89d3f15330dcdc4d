"""Methods for task graphs, one a file, named as in the literature."""

AUTO = (
    "given-plan",
    "hu",
    "coffman-graham",
    "list-scheduling",
    "mapping-heuristic",
    "dominant-sequence-clustering",
    "linear-clustering",
    "edge-zeroing",
)
"""What ``auto`` tries in turn."""
