"""Methods for reductions, named as in the literature: a file each, but for those in ``SHARED``."""

AUTO = (
    "given-plan",
    "exhaustive",
    "greedy-trees",
    "segment-count",
    "staggered",
    "hierarchical",
    "reduce-then-broadcast",
    "reduce-scatter-all-gather",
    "single-segment",
    "chain",
    "circulant",
    "direct",
    "shortest-paths",
    "ring",
    "recursive-doubling",
    "bruck",
    "guided-ejection",
    "earliest-due-date",
    "tree-packing",
    "rarest-first",
    "two-tree",
    "critical-path",
    "branch-and-bound",
    "cp-sat",
    "cp-sat",
    "backfilling",
)
"""What ``auto`` tries in turn."""
SHARED = {
    "trees": ("binary", "binomial", "chain", "k-nomial", "star", "two-tree"),
    "destinations": ("backfilling", "greedy-trees"),
    "reduce-then-broadcast": ("reduce-scatter-all-gather", "reduce-then-broadcast"),
    "exchange": ("bruck", "direct", "recursive-doubling", "ring"),
}
"""The files that hold several methods, which are alike."""
