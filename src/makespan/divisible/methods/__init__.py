"""Methods for divisible loads, one a file, named as in the literature."""

AUTO = (
    "no-load",
    "given-loads",
    "activation",
    "bus",
    "star",
    "fixed-order",
    "tree",
    "affine-tree",
    "independent-links",
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
    "bus-exchange",
    "subset-dp",
    "milp",
)
"""What ``auto`` tries in turn."""
