"""The command serve."""

import click

from makespan.cli import parameters
from makespan.cli.process import DONE


@click.command("serve")
@click.option("--host", metavar="NAME", default="127.0.0.1", help="Listen there (127.0.0.1).")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8321, help="8321; 0 takes a free one."
)
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@click.option(
    "--token",
    metavar="TEXT",
    envvar="MAKESPAN_TOKEN",
    help="What requests must bring; or in MAKESPAN_TOKEN. Needed where other machines may ask.",
)
def command(*, host: str, port: int, browser: bool, token: str | None) -> int:
    """Open a page to plan with, and answer requests of programs, until Ctrl-C.

    \b
    makespan serve
    makespan serve --port 9000 --no-browser
    MAKESPAN_TOKEN=secret makespan serve --host 0.0.0.0
    """
    from makespan.studio.serving import serve

    try:
        serve(host, port, token, browser=browser, say=parameters.say)
    except KeyboardInterrupt:  # the way to end it
        return DONE
    return DONE
