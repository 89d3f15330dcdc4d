"""``python -m makespan``."""

from makespan.cli import main

main()
