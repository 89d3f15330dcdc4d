"""The command line: one file a command, each loaded when it is asked for."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    import sys

    from makespan.cli import lean, signals, streams

    try:
        signals.listen()
        lean.begin(sys.argv[1:])
        streams.open_closed_streams()
        from makespan.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the library was imported, or a message written
        sys.stderr.write("interrupted\n")
        code = signals.interrupted_code()
    signals.leave_alone()
    sys.exit(code)
