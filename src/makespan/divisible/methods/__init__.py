"""Methods for divisible loads, named as in the literature: a file each, but for ``SHARED``."""

AUTO = (
    *("pareto", "no-load", "given-loads", "activation"),
    *("bus", "star", "fixed-order", "tree", "affine-tree", "source-flows"),
    *("independent-links", "greedy"),
    *("return-programme", "lifo", "fifo", "return-orders"),
    *("multi-installment", "multi-round", "best-rate"),
    *("output-only", "sends-first", "two-channels", "whole-units"),
    *("large-load", "port-prices", "bus-exchange", "subset-dp", "milp"),
    *("sequence-search", "chunk-programme"),
    *("tree-programme", "source-programme", "source-search"),
)
"""What ``auto`` tries in turn."""

SHARED = {
    "closed-forms": ("bus", "star", "fixed-order"),
    "given": ("no-load", "given-loads", "activation"),
    "latencies": ("large-load", "subset-dp", "bus-exchange"),
    "multi-round": ("multi-round", "multi-installment"),
    "published": (
        *("equal-split", "proportional-split", "umr", "multi-installment-output"),
        *("self-scheduling", "guided", "factoring", "weighted-factoring", "rumr"),
    ),
    "programmes": ("milp", "chunk-programme"),
    "return-orders": ("fifo", "lifo", "return-orders", "return-programme"),
    "round-robin": ("sends-first", "two-channels", "output-only"),
    "sources": ("source-flows", "source-programme", "source-search"),
    "trees": ("tree", "affine-tree", "tree-programme"),
}
"""The files that hold several methods, which are alike."""
