"""Methods for reductions, one a file, named as in the literature."""

AUTO = ("given-plan",)
"""What ``auto`` tries in turn."""
