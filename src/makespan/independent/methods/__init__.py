"""Methods for independent tasks, one a file, named as in the literature."""

AUTO = ("mcnaughton", "lpt", "multifit", "exact")
"""What ``auto`` tries in turn."""
