"""The least limit at which the tasks can be split: sums of allowed counts, and the search."""
