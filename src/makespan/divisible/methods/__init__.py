"""Methods for divisible loads, one a file, named as in the literature."""

AUTO = ("given-loads", "bus", "star", "fixed-order", "large-load")
"""What ``auto`` tries in turn."""
