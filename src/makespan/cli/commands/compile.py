"""The command compile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from makespan.cli import parameters
from makespan.cli.process import DONE

if TYPE_CHECKING:
    from makespan.flow.compile import Tell

LONGEST = 10  # kernels that are named where nothing else is asked for


@click.command("compile")
@click.option("-v", "--verbose", is_flag=True, help="List the seconds of every kernel.")
def command(verbose: bool) -> int:
    """Compile every kernel now, so that no later use has to; takes one to two minutes.

    Otherwise they are compiled beside the first solves: MAKESPAN_COMPILE=now|beside|never.

    \b
    makespan compile                                    # into the folders of the installation
    NUMBA_CACHE_DIR=/var/cache/numba makespan compile   # into a folder of your choice
    """
    from makespan.core.numeric.jit import compiles
    from makespan.flow.compile import compile_ahead

    if not compiles():
        parameters.print_error("nothing to compile: NUMBA_DISABLE_JIT is 1")
        return DONE
    with _show_progress() as tell:
        kernels = compile_ahead(tell)
    if parameters.is_quiet():
        return DONE
    longest = sorted((each for each in kernels if each.seconds), key=lambda each: -each.seconds)
    for each in longest if verbose else longest[:LONGEST]:
        parameters.print_text(f"{each.seconds:6.2f} s  {each.name}")
    signatures = sum(kernel.signatures for kernel in kernels)
    seconds = sum(kernel.seconds for kernel in kernels)
    parameters.print_text(
        f"{len(kernels)} kernels, {signatures} signatures: {len(longest)} kernels compiled in "
        f"{seconds:.0f} s of CPU time, the others found"
    )
    return DONE


@contextmanager
def _show_progress() -> Iterator[Tell]:
    """Give what shows each kind: a bar on a terminal, else a line when it is done."""
    from makespan.core.numeric.jit import compiled

    def write(kind: str, done: int, count: int) -> None:
        if done == count and not parameters.is_quiet():
            parameters.print_error(f"{kind}: {count} problems solved, {len(compiled())} kernels")

    if parameters.is_quiet() or not sys.stderr.isatty():
        yield write
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as drawn:
        bars = {}

        def draw(kind: str, done: int, count: int) -> None:
            if kind not in bars:
                bars[kind] = drawn.add_task(kind, total=count)
            drawn.update(bars[kind], completed=done)

        yield draw
