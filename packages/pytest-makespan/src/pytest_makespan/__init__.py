"""A scheduler for pytest-xdist that knows how long tests take: ``--dist makespan``."""
