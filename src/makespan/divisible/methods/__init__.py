"""Methods for divisible loads, one a file, named as in the literature."""

AUTO = ("given-loads", "bus", "star", "fixed-order", "tree", "large-load", "milp")
"""What ``auto`` tries in turn."""
