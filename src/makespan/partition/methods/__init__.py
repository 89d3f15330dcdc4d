"""Methods for partition problems, one a file, named as in the literature."""

AUTO = ("monotone", "threshold", "total", "lexicographic", "pareto", "any-plan")
"""What ``auto`` tries in turn."""
