"""The command line: one file a command, each loaded when it is asked for."""


def main() -> None:
    """Run the command line and exit with its code."""
    import sys

    from makespan.cli import process

    try:
        process.listen_for_sigterm()
        process.be_lean(sys.argv[1:])
        process.open_closed_streams()
        from makespan.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while the library was imported, or a message written
        sys.stderr.write("interrupted\n")
        code = process.interrupted_code()
    process.leave_signals_alone()
    sys.exit(code)
