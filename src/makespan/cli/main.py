"""The entrance: which commands there are, and what becomes of errors."""

import errno
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from makespan._version import __version__
from makespan.cli import process
from makespan.cli.commands import SHARED
from makespan.cli.parameters import with_common
from makespan.core.errors import MakespanError, plain
from makespan.core.inputs.files import file_fault
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.report import InvalidSchedule

COMMANDS = {
    "solve": "Plan, and print a summary or the result as JSON.",
    "compare": "Run every method that applies, side by side.",
    "adversary": "Search for the problem on which a method does worst.",
    "board": "List open problems that are held here, or submit a better plan.",
    "landscape": "Map instances: where which method is best.",
    "report": "Summarise experiments: tables, ranks, profiles, figures.",
    "check": "Referee a result, or a schedule made elsewhere.",
    "gpus": "Split a batch over GPUs with measured costs, and say how in a sentence.",
    "simulate": "Replay a plan under random errors: how its makespan varies.",
    "calibrate": "Measure a Dask cluster or MPI ranks, and write the problem.",
    "map": "Apply a function to items on any pool of workers, and measure it.",
    "predict": "Predict from a trace how long the same work takes on other machines.",
    "split": "Split tests over the shards of a CI run by measured seconds.",
    "run": "Run a plan on a Dask cluster or by MPI, and measure it.",
    "plot": "Draw a result or a problem, or make a page of it.",
    "serve": "Open a page to plan with, and answer requests of programs.",
    "generate": "Make a random problem.",
    "convert": "Write a problem, a result or a schedule in another format.",
    "schema": "Print the JSON Schema of problem files, for editors.",
    "compile": "Compile all kernels now, so that later runs start at once.",
    "methods": "List the methods, or say why each applies to a file or not.",
    "help": "Say what a command does, and which options it has.",
}


GOING = ".* is gone from makespan [0-9.]+ on: "
"""How a warning of what is deprecated begins; those of other libraries are not for our users."""
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class Commands(click.Group):
    """A group that imports a command when it is called, and not to list it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return _of_package(cmd_name)
        file = next((file for file, names in SHARED.items() if cmd_name in names), cmd_name)
        found = vars(import_module(f"makespan.cli.commands.{file}"))
        return with_common(found.get("command") or found[f"{cmd_name}_command"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = not args or args[0] in COMMANDS or args[0].startswith("-")
        if not known and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"there is no command {args[0]!r}{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _of_package(name: str) -> click.Command | None:
    """Return a command that an installed package adds, such as ``grade``; None for none."""
    from importlib.metadata import entry_points

    found = [each.load() for each in entry_points(group="makespan.commands", name=name)]
    return with_common(found[0]) if found else None


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Files are TOML or JSON; '-' is standard input or output. Exit codes: 0 done, "
    "1 internal error, 2 bad usage or input, 3 infeasible, 4 limit reached with nothing found, "
    "5 check failed, 130 interrupted, 143 terminated.",
)
@click.version_option(__version__, "-V", "--version", prog_name="makespan")
def cli() -> None:
    """Plan parallel work when moving data costs time."""


with_common(cli)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; errors become a message on stderr."""
    debug = "--debug" in arguments
    with warnings.catch_warnings():
        warnings.filterwarnings("always", GOING, DeprecationWarning)
        usual = warnings.showwarning

        def show(message: Warning | str, *place: Any, **more: Any) -> None:
            if re.match(GOING, str(message)):
                _tell(f"deprecated: {message}")
            else:
                usual(message, *place, **more)

        warnings.showwarning = show
        return _run(arguments, debug)


def _run(arguments: Sequence[str], debug: bool) -> int:
    try:
        code = cli.main(list(arguments), prog_name="makespan", standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # click turns the former into the latter
        process.forget_stdout()
        return process.DONE
    except click.ClickException as error:
        _usage_error(error)
        return process.USAGE
    except (KeyboardInterrupt, click.Abort):
        return _interrupted()
    except InvalidSchedule as error:
        if error.planned:
            return _failure(error, debug, process.INTERNAL, f"internal error: {error}")
        return _failure(error, debug, process.CHECK_FAILED, f"error: {error}")
    except MakespanError as error:
        return _failure(error, debug, process.USAGE, f"error: {error}")
    except Exception as error:
        if process.is_interrupt(error):
            return _interrupted()
        # what readers and writers of files raise names them; this came from a stream
        if isinstance(error, OSError) and error.filename is None and error.errno in UNWRITABLE:
            process.forget_stdout()
            fault = f"error: standard output: {file_fault(error, 'written')}"
            return _failure(error, debug, process.USAGE, fault)
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return _failure(error, debug, process.INTERNAL, f"internal error: {what}")
    if code == process.INTERRUPTED:
        return process.interrupted_code()
    return code if isinstance(code, int) else process.DONE


def _interrupted() -> int:
    _tell("interrupted")
    return process.interrupted_code()


def _failure(error: Exception, debug: bool, code: int, message: str) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    elif code == process.INTERNAL:
        message += "\nrun 'makespan --debug ...' to see where"
    _tell(message)
    return code


def _usage_error(error: click.ClickException) -> None:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        _tell(error.format_message())
        return
    _tell(f"error: {error.format_message()}")
    if context is not None:
        _tell(f"'{context.command_path} --help' shows what there is")


def _tell(message: str) -> None:
    """Print a message on stderr, its first word in red on a terminal unless NO_COLOR is set."""
    message = plain(message)
    head, colon, rest = message.partition("error:")
    if colon and sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        message = click.style(head + colon, fg="red", bold=True) + rest
    try:
        click.echo(message, err=True)
    except OSError:  # nobody reads stderr
        return
