"""The command split."""

from typing import Any

import click

from makespan.cli import parameters
from makespan.cli.process import DONE
from makespan.core.errors import InputError, headed

SPLIT_FORMAT = "makespan.split/1"
FROM_0 = click.FloatRange(min=0, max=1e15)


@click.command("split")
@parameters.file_argument("times")
@click.option("--shards", type=click.IntRange(min=1), metavar="N", help="The number of shards.")
@click.option("--within", type=FROM_0, metavar="SECONDS", help="Or what each may take.")
@click.option("--speeds", metavar="A,B,…", help="Or the speed of each, where they differ.")
@click.option("--shard", type=click.IntRange(min=1), metavar="K", help="Print its tests alone.")
@click.option("--by", type=click.Choice(["case", "file", "class"]), help="What stays together.")
@click.option("--counts", metavar="equal|N", help="How many tests a shard may have.")
@click.option("--startup", type=FROM_0, default=0.0, help="Seconds before a shard's tests.")
@click.option("--price", type=FROM_0, help="Of a minute of a shard; the total is told.")
@parameters.file_option("--list", "listed", says="The tests there are now, one a line.")
@click.option(
    "--for",
    "runner",
    type=click.Choice(["pytest", "playwright", "vitest", "go"]),
    help="Who runs them: go takes one pattern, the others a name a line.",
)
@parameters.as_json
def command(
    *,
    times: str,
    shards: int | None,
    within: float | None,
    speeds: str | None,
    shard: int | None,
    by: str | None,
    counts: str | None,
    startup: float,
    price: float | None,
    listed: str | None,
    runner: str | None,
    as_json: bool,
) -> int:
    """Split tests over the shards of a CI run by the seconds that they took.

    TIMES is JUnit XML, .test_durations, JSON of Playwright, vitest or go test, or CSV with name
    and seconds.

    \b
    makespan split junit.xml --shards 4 --shard 1
    """
    from makespan.core.inputs.files import read_text
    from makespan.flow.timings import read, split, split_by_speeds, split_within, times_of, written

    if [shards, within, speeds].count(None) != 2:
        raise InputError("--shards, --within, --speeds: exactly one of them is needed")
    if counts and speeds:
        raise InputError("--counts: not together with --speeds")
    most: Any = int(counts) if counts and counts.isdecimal() and len(counts) < 10 else counts
    text = read_text(times)
    with headed(times):
        report = read(text)
    now = None
    if listed is not None:
        lines = (line.strip() for line in read_text(listed).splitlines())
        now = [line for line in lines if line]
    seconds = times_of(report, by, now)
    if shards is not None:
        found = split(seconds, shards, most, startup)
    elif speeds is not None:
        found = split_by_speeds(seconds, _speeds(speeds), startup)
    else:
        found = split_within(seconds, within or 0.0, most, startup)
    if shard is not None and shard > len(found.tests):
        raise InputError(f"--shard: {shard} is not allowed; there are {len(found.tests)}")
    total = None if price is None else found.price(price)
    if as_json:
        parameters.print_json({"format": SPLIT_FORMAT, **found.as_dict(), "price": total})
    elif shard is not None:
        click.echo(written(found.tests[shard - 1], runner))
    else:
        rows = [f"{'shard':>5} {'tests':>6} {'seconds':>10}"]
        for index, (tests, taken) in enumerate(zip(found.tests, found.seconds, strict=True), 1):
            rows.append(f"{index:5} {len(tests):6} {taken:10.2f}")
        rows.append(f"bound {found.bound:.2f} s, gap {100 * found.gap:.2f} %")
        parameters.say("\n".join(rows if total is None else [*rows, f"price {total:.2f}"]))
    return DONE


def _speeds(text: str) -> list[float]:
    try:
        speeds = [float(each) for each in text.split(",")]
    except ValueError:
        speeds = []
    if not speeds or not all(0 < each < float("inf") for each in speeds):
        raise InputError(f"--speeds: {text!r} is not allowed; it is numbers above 0, as 1,1,2.5")
    return speeds
