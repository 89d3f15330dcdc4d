"""Methods for independent tasks, named as in the literature: a file each, but for ``SHARED``."""

AUTO = (
    *("mcnaughton", "level-algorithm", "mct", "lawler-labetoulle"),
    *("uniform-lpt", "min-min", "sufferage", "simulated-annealing"),
    *("lenstra-shmoys-tardos", "milp", "branch-and-bound", "lpt", "multifit"),
    *("largest-differencing", "interchange", "subset-sum"),
    *("bin-completion", "arc-flow", "exact"),
)
"""What ``auto`` tries in turn."""

SHARED = {
    "capacities": ("bin-completion", "arc-flow"),
    "completion-times": ("mct", "uniform-lpt", "min-min", "max-min", "sufferage"),
    "identical-machines": ("largest-differencing", "multifit"),
    "list-scheduling": ("list-scheduling", "lpt"),
    "pairs-of-machines": ("interchange", "subset-sum"),
    "preemptive": ("level-algorithm", "mcnaughton"),
    "programmes": ("milp", "lenstra-shmoys-tardos"),
}
"""Files of methods that are alike."""
