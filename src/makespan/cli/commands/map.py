"""The command map."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from makespan.cli import cluster, parameters
from makespan.cli.process import DONE
from makespan.core.errors import InputError

if TYPE_CHECKING:
    from makespan.execute import Execution

PLACES = "local, ray, mpi, dask"
MAP_FORMAT = "makespan.map/1"


@click.command("map")
@click.argument("function_name", metavar="MODULE:FUNCTION")
@click.argument("items", metavar="ITEMS")
@click.option(
    "--on",
    "place",
    default="local",
    show_default=True,
    metavar="PLACE",
    help=f"Where: {PLACES}, or the address of a Dask scheduler, tcp://HOST:PORT, or of a Ray "
    "cluster, ray://HOST:PORT.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of processes, with --on local; one for each core without it.",
)
@cluster.batched
@click.option(
    "--expected",
    metavar="FIELD",
    help="The field of the items that says what they take; the longest are begun first.",
)
@click.option("--keep-going", is_flag=True, help="Exit with 0, too, where items fail.")
@parameters.file_option("--results", says="Write the results (.json, .npy).")
@parameters.output("Write what was measured (.json).")
@parameters.file_option("--plot", "picture", says="Draw it: .svg, .png, .pdf or .html.")
@parameters.as_json
def command(
    *,
    function_name: str,
    items: str,
    place: str,
    jobs: int | None,
    batched: bool,
    expected: str | None,
    keep_going: bool,
    results: str | None,
    output: str | None,
    picture: str | None,
    as_json: bool,
) -> int:
    """Apply a function to all ITEMS, dealt out to the workers of any pool.

    ITEMS is a file: .npy (rows), .json (a list), text (lines); or a folder, whose files are the
    items.

    \b
    makespan map work:render frames.npy --on local -j 8 --results out.npy --plot run.html
    """
    from makespan.execute.execution import raise_if_failed
    from makespan.flow.files.files import PICTURES, refuse_target, save

    for target, suffixes in ((results, cluster.RESULTS), (output, (".json",)), (picture, PICTURES)):
        refuse_target(target, *suffixes, source=items)
    execution = _executed(function_name, items, _place(place, jobs), batched, expected)
    if results is not None:
        cluster.write_results(execution.results, results)
    for target in (output, picture):
        if target is not None:
            save(execution, target)
    if not keep_going:
        raise_if_failed(execution)
    if as_json:
        parameters.print_json({"format": MAP_FORMAT, **execution.as_dict()})
    else:
        written = [f"{one} written" for one in (results, output, picture) if one is not None]
        parameters.say("\n".join([str(execution), *_shares(execution), *written]))
    return DONE


def _executed(name: str, items: str, on: Any, batched: bool, expected: str | None) -> Execution:
    from makespan.execute import map as mapped

    function, data = cluster.find_function(name), cluster.read_data(items)
    loud = not parameters.is_quiet()
    return mapped(
        function, data, on=on, batched=batched, expected=expected, keep_going=True, progress=loud
    )


def _place(place: str, jobs: int | None) -> Any:
    """Return the pool of this name."""
    if place not in PLACES.split(", ") and not re.match(r"(tcp|tls|ray)://", place):
        raise InputError(f"--on: {place!r} is not {PLACES}, or an address")
    if jobs is not None and place != "local":
        raise InputError(f"--jobs: is for --on local; how many workers {place} has is said there")
    return jobs if place == "local" else place


def _shares(execution: Execution) -> list[str]:
    """Return a line about what each worker did."""
    done = (f"{one.name}: {one.items:,}" for one in execution.workers)
    return [f"items a worker: {', '.join(done)}"] if execution.workers else []
