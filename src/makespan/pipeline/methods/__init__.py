"""Methods for pipelines, named as in the literature: a file each, but for ``SHARED``."""

AUTO = ("chains-to-chains", "best-fit", "local-search", "dynamic-programming", "deal")
"""What ``auto`` tries in turn."""

SHARED = {
    "exact": ("chains-to-chains", "dynamic-programming"),
    "first-mappings": ("best-fit", "equal", "memory-proportional", "splitting"),
}
"""Files of methods that are alike."""
