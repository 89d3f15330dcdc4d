"""Methods for reductions, one a file, named as in the literature."""

AUTO = (
    "given-plan",
    "exhaustive",
    "greedy-trees",
    "segment-count",
    "reduce-then-broadcast",
    "single-segment",
    "chain",
    "circulant",
    "rarest-first",
    "two-tree",
    "branch-and-bound",
    "cp-sat",
    "cp-sat",
    "backfilling",
)
"""What ``auto`` tries in turn."""
