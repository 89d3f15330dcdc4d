"""Methods for partition problems, named as in the literature: a file each, but for ``SHARED``."""

AUTO = ("monotone", "threshold", "total", "lexicographic", "pareto", "any-plan")
"""What ``auto`` tries in turn."""
SHARED = {
    "monotone": ("any-plan", "monotone"),
    "published": ("dynamic-programming", "marin", "olar"),
    "sums": ("lexicographic", "pareto", "total"),
}
"""The files that hold several methods, which are alike."""
