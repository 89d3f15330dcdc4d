"""Methods for independent tasks, one a file, named as in the literature."""

AUTO = (
    "mcnaughton",
    "lpt",
    "multifit",
    "largest-differencing",
    "interchange",
    "bin-completion",
    "exact",
)
"""What ``auto`` tries in turn."""
