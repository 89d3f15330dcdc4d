"""``python -m benchmarks`` prints the figures of the tables; with names, it measures these anew.

``python -m benchmarks heft partition`` runs ``benchmarks.heft`` and ``benchmarks.partition``, each
in a process of its own; ``python -m benchmarks all`` runs all that need no peer, set or cluster.
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.headlines import headlines

ALONE = (
    *(
        "affine_star",
        "all_to_all",
        "board_eplb",
        "boards",
        "closed_forms",
        "collectives",
        "experts",
        "frangioni",
        "heft",
        "multi_round",
        "partition",
        "process_groups",
    ),
    *(
        "reduction",
        "robust",
        "scale",
        "simulate",
        "small",
        "startup",
        "studio",
        "studio_page",
        "taskgraph_contention",
    ),
)
"""Benchmarks that need nothing but this repository and the extra ``test``."""


def main(names: list[str]) -> int:
    """Run benchmarks, then print the figures."""
    failed = []
    for name in ALONE if names == ["all"] else names:
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    for one in headlines():
        print(f"{one.what}: {one.found}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
