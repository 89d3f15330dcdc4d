"""The command line: one file a command, each loaded when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    import sys

    from makespan.cli.main import run

    sys.exit(run(sys.argv[1:]))
