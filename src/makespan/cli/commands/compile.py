"""The command compile."""

from __future__ import annotations

import click

from makespan.cli import parameters
from makespan.cli.codes import DONE


@click.command("compile")
def command() -> int:
    """Compile every kernel now, so that no later use has to; takes a minute or two.

    \b
    makespan compile                                    # into the folders of the installation
    NUMBA_CACHE_DIR=/var/cache/numba makespan compile   # into a folder of your choice
    """
    from makespan.core.numeric.jit import compiles
    from makespan.core.system import startup
    from makespan.flow.compile import compile_ahead

    if not compiles():
        parameters.print_error("nothing to compile: NUMBA_DISABLE_JIT is 1")
        return DONE
    kernels = compile_ahead(lambda kind: parameters.print_error(f"{kind} ..."))
    signatures = sum(kernel.signatures for kernel in kernels)
    parameters.print_text(
        f"{len(kernels)} kernels, {signatures} signatures: compiled or found in "
        f"{startup.spent():.0f} s"
    )
    return DONE
