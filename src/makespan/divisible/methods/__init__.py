"""Methods for divisible loads, named as in the literature: a file each, but for ``SHARED``."""

AUTO = (
    "pareto",
    "no-load",
    "given-loads",
    "activation",
    "bus",
    "star",
    "fixed-order",
    "tree",
    "affine-tree",
    "source-flows",
    "independent-links",
    "greedy",
    "return-programme",
    "lifo",
    "fifo",
    "return-orders",
    "multi-installment",
    "multi-round",
    "best-rate",
    "output-only",
    "sends-first",
    "two-channels",
    "whole-units",
    "large-load",
    "port-prices",
    "bus-exchange",
    "subset-dp",
    "milp",
    "sequence-search",
    "chunk-programme",
    "tree-programme",
    "source-programme",
    "source-search",
)
"""What ``auto`` tries in turn."""

SHARED = {
    "closed-forms": ("bus", "star", "fixed-order"),
    "disciplines": ("fifo", "lifo"),
    "ordered-subsets": ("subset-dp", "bus-exchange"),
    "orders": ("return-orders", "return-programme"),
    "policies": ("self-scheduling", "guided", "factoring", "weighted-factoring", "rumr"),
    "round-robin": ("sends-first", "two-channels"),
    "splits": ("equal-split", "proportional-split"),
}
"""The files that hold several methods, which are alike."""
