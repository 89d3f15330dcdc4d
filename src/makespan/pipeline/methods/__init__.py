"""Methods for pipelines, named as in the literature: a file each, but for ``SHARED``."""

AUTO = ("chains-to-chains", "best-fit", "local-search", "dynamic-programming", "deal")
"""What ``auto`` tries in turn."""

SHARED = {"proportional": ("equal", "memory-proportional")}
"""Files of methods that are alike."""
