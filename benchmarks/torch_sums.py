"""All-reduces of PyTorch on four ranks: gloo's own, and tuned by what was measured of the links.

``python -m benchmarks.torch_sums`` with a Python that has PyTorch, as root, writes the table. Slow
links are token buckets between network namespaces.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import Any

from benchmarks.table import Table
from tests.execute.namespaces import NETWORK, joined, possible

LINKS = (None, 50.0, 100.0, 200.0)
NETWORKS = {
    "slow links": [0, 1, 2, 3],
    "slow links, ranks reversed": [3, 2, 1, 0],
    "one computer": None,
}
LENGTHS = (200_000, 2_000_000)  # of float32
REPEATS = {"slow": (9, 5), "one": (150, 150)}


def inside(repeats: list[int]) -> None:
    """Run on every rank: time both in turn; print what they took."""
    import torch
    import torch.distributed as own

    from makespan.execute.torch import tuned

    own.init_process_group("gloo")
    begin = time.perf_counter()
    group = own.new_group(backend="gloo")  # of both, as one that was just used is the faster
    fast = tuned(group, progress=False)
    measuring = time.perf_counter() - begin
    seconds: dict[str, list[list[float]]] = {"gloo": [], "tuned": []}
    for length, times in zip(LENGTHS, repeats, strict=True):
        tensor = torch.ones(length)
        for known in seconds.values():
            known.append([])
        for turn in range(times + 1):  # the first plans, and makes connections
            both: list[tuple[str, Any]] = [
                ("gloo", partial(own.all_reduce, group=group)),
                ("tuned", fast.all_reduce),
            ]
            for name, call in both[:: 1 - 2 * (turn % 2)]:  # each as often first as second
                tensor.fill_(1.0)
                own.barrier(group)
                begin = time.perf_counter()
                call(tensor)
                took = torch.tensor([time.perf_counter() - begin])
                own.all_reduce(took, own.ReduceOp.MAX, group=group)
                assert bool((tensor == 4.0).all())
                if turn:
                    seconds[name][-1].append(float(took))
    used = [each.used for each in fast.choices]
    own.barrier()
    own.destroy_process_group()
    print(json.dumps({"measuring": measuring, "seconds": seconds, "used": used}))


@contextmanager
def ranks(order: list[int] | None) -> Iterator[dict[str, Any]]:
    """Give how ranks are started: on this computer, or behind links in an order."""
    if order is None:
        yield {}
        return
    with joined(LINKS) as spaces:
        yield {
            "inside": [["ip", "netns", "exec", spaces[place]] for place in order],
            "extra": {"MASTER_ADDR": f"{NETWORK}.{order[0] + 1}", "GLOO_SOCKET_IFNAME": "e0"},
        }


def main() -> None:
    """Measure all networks, and write the table."""
    from tests.execute.torch.launch import launch

    table = Table(
        "torch_sums",
        "All-reduces on four ranks of PyTorch: gloo's own, and tuned",
        "Sums of float32; wall time of the slowest rank, medians; both in turn. Slow links: every "
        "rank has a network namespace, three of them behind token buckets of 50, 100 and 200 "
        "Mbit/s, in both orders of the ranks. One computer: four ranks on two cores.",
        ("network", "", *(f"{4 * length / 1e6:g} MB" for length in LENGTHS), "measuring"),
        clock="wall time",
    )
    for network, order in NETWORKS.items():
        repeats = REPEATS["one" if order is None else "slow"]
        with ranks(order) as how:
            found = launch(4, "-m", "benchmarks.torch_sums", *repeats, **how)[0]
        both = {name: [median(t) for t in times] for name, times in found["seconds"].items()}
        print(network, found["used"], both, file=sys.stderr)
        table.add(network, "gloo", *both["gloo"], "")
        table.add(network, "**tuned**", *both["tuned"], found["measuring"])
        pairs = zip(both["gloo"], both["tuned"], strict=True)
        table.add(network, "gloo / tuned", *(f"**{one / own:.2f}**" for one, own in pairs), "")
    table.write()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        inside([int(times) for times in sys.argv[1:]])
    elif not possible():
        sys.exit("needs root, ip and tc")
    else:
        main()
