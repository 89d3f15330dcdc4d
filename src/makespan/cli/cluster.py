"""What commands for clusters share: a scheduler, a function, data, results; MPI by its name."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from makespan.cli.parameters import with_common
from makespan.core.errors import FileError, InputError

RESULTS = (".json", ".npy")


def scheduler_option(
    required: bool = True, says: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that names a scheduler."""
    text = f"A Dask scheduler: tcp://HOST:PORT.{says}"
    return click.option("--scheduler", required=required, metavar="ADDRESS", help=text)


function = click.option(
    "--function",
    "function_name",
    required=True,
    metavar="MODULE:NAME",
    help="The function to run, importable here and on the workers.",
)
batched = click.option(
    "--batched", is_flag=True, help="The function takes a chunk, a list or rows, not one item."
)


def find_function(name: str) -> Callable[[Any], Any]:
    """Find the function ``package.module:name``, also in the current folder; else InputError."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise InputError(f"--function: {name!r} is not of the form package.module:name")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise InputError(f"--function: {module} can't be imported: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InputError(f"--function: {module} has no {attribute}")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"--function: {name} can't be called")
    return found  # type: ignore[no-any-return]


def read_data(path: str) -> Any:
    """Return the items in a file or folder.

    ``.npy`` holds an array, whose rows are the items; ``.json`` a list; any other file is text,
    whose lines are the items. Of a folder, the files are the items, by name.
    Raises FileError if it can't be read.
    """
    import numpy as np

    source = Path(path)
    try:
        if source.is_dir():
            from makespan.execute import Files

            return Files(sorted(child for child in source.iterdir() if child.is_file()))
        if source.suffix == ".npy":
            return np.load(source, mmap_mode="r", allow_pickle=False)
        text = source.read_text(encoding="utf-8")
        if source.suffix != ".json":
            return text.splitlines()
        data = json.loads(text)
    except FileNotFoundError:
        raise FileError(f"{path}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path}: can't be read: {error}") from error
    if not isinstance(data, list):
        raise FileError(f"{path}: holds no list, but data is a list of items")
    return data


def write_results(results: Any, path: str) -> None:
    """Write the results of a run, as ``.json`` or ``.npy``, or raise FileError."""
    from io import BytesIO

    import numpy as np

    from makespan.core.inputs.files import write_whole

    try:
        if Path(path).suffix.lower() == ".npy":
            content = BytesIO()
            np.save(content, np.asarray(results), allow_pickle=False)
            data: str | bytes = content.getvalue()
        else:
            plain = results.tolist() if isinstance(results, np.ndarray) else results
            data = json.dumps(plain, default=_plain) + "\n"
    except (TypeError, ValueError) as error:
        raise FileError(f"{path}: can't hold these results: {error}") from error
    write_whole(path, data)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Give a client of the scheduler, or raise InputError or, without an answer, ExecutionError."""
    dask = import_module("makespan.execute.dask.cluster.client")
    if not address.rpartition(":")[2].isdigit():
        raise InputError(f"--scheduler: {address!r} is not of the form tcp://HOST:PORT")
    with dask.client_at(address, "--scheduler") as client:
        yield client


class OnMpi(click.Command):
    """A command that is another with ``--mpi``: that of its name in the package of MPI."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if "--mpi" not in args:
            return super().make_context(info_name, args, parent, **extra)
        import_module("makespan.execute.mpi")  # says so where it is missing
        mpi = import_module("makespan_collectives.commands")
        mpi.quiet_but_root()
        own = [each for each in args if each != "--mpi"]
        command: click.Command = getattr(mpi, str(self.name))
        with_common(command)
        return command.make_context(f"{info_name} --mpi", own, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        path = ctx.command_path
        formatter.write_paragraph()
        formatter.write_text(f"With --mpi, on every rank of MPI: see '{path} --mpi --help'.")
