"""Commands that Dask's clusters and the ranks of MPI share by name."""

from __future__ import annotations

from typing import Any

import click

from makespan.cli.parameters import with_common


class OnMpi(click.Command):
    """A command that is another with ``--mpi``: that of its name in ``makespan.cli.mpi``."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        if "--mpi" not in args:
            return super().make_context(info_name, args, parent, **extra)
        from makespan.cli import mpi

        mpi.quiet_but_root()
        own = [each for each in args if each != "--mpi"]
        command: click.Command = getattr(mpi, str(self.name))
        with_common(command)
        return command.make_context(f"{info_name} --mpi", own, parent, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        path = ctx.command_path
        formatter.write_paragraph()
        formatter.write_text(f"With --mpi, on every rank of MPI: see '{path} --mpi --help'.")
