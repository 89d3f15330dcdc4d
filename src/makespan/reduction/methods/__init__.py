"""Methods for reductions, named as in the literature: a file each, but for those in ``SHARED``."""

AUTO = (
    *("given-plan", "exhaustive", "greedy-trees", "segment-count", "process-groups"),
    *("staggered", "hierarchical", "reduce-then-broadcast", "balanced-trees"),
    *("reduce-scatter-all-gather", "single-segment", "chain", "circulant", "open-shop"),
    *("direct", "shortest-paths", "ring", "recursive-doubling", "bruck"),
    *("guided-ejection", "earliest-due-date", "tree-packing", "rarest-first", "two-tree"),
    *("critical-path", "ejection-pool", "branch-and-bound", "cp-sat", "cp-sat", "backfilling"),
)
"""What ``auto`` tries in turn."""
BESIDE = ("halves",)  # rooms of planners that are methods, too
SHARED = {
    "destinations": ("backfilling", "exhaustive", "greedy-trees"),
    "closed-forms": (
        "bruck",
        "circulant",
        "direct",
        "recursive-doubling",
        "ring",
        "single-segment",
    ),
    "guided-ejection": ("ejection-pool", "guided-ejection"),
    "groups": ("hierarchical", "process-groups"),
    "merging": ("cp-sat", "reduce-scatter-all-gather", "reduce-then-broadcast"),
    "proofs": ("branch-and-bound",),
    "trees": ("binary", "binomial", "chain", "given-plan", "k-nomial", "star", "two-tree"),
}
"""The files that hold several methods, which are alike."""
