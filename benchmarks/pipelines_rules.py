"""Pipelines: the rules by which systems cut a model, beside the best mapping.

``python -m benchmarks.pipelines_rules [random] [devices]``. Rules of exo 1.0 and PiPPy were
compared with the public code, the others follow its description; devices have published figures of
their memory, see ``DEVICES``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from benchmarks.pipelines import devices
from benchmarks.table import Table
from makespan import Interconnect, Pipeline, solve
from makespan.core.numeric.arrays import Floats
from makespan.pipeline.mapping import Mapping, fits, values_of

RANDOM, SHORT, LONGER = 300, 0.5, 10.0
OBJECTIVES = ("latency", "period")

Shares = tuple[list[int], list[int]]
"""Machines in the order of the chain, and how many layers each takes."""


def remainders(machines: Sequence[int], weights: Sequence[float], layers: int) -> Shares:
    """Return shares by weights: rounded down, then one more to the largest remainders."""
    share = np.array(weights) / sum(weights) * layers
    count = np.floor(share + 1e-9).astype(np.int64)
    for at in np.argsort(count - share, kind="stable")[: layers - int(count.sum())].tolist():
        count[at] += 1
    return list(machines), count.tolist()


def exo(memory: Sequence[float], sizes: Floats, ends: int) -> Shares:
    """The fewest machines that suffice, of these the most memory; by memory, at least one each.

    exo 1.0, ``master/placement.py`` and ``allocate_layers_proportionally``.
    """
    everyone = range(len(memory))
    for number in range(1, len(memory) + 1):
        enough = [
            each for each in combinations(everyone, number)
            if sum(memory[one] for one in each) >= sizes.sum()
        ]  # fmt: skip
        if enough:
            break
    machines = max(enough, key=lambda each: sum(memory[one] for one in each))
    order, count = remainders(machines, [memory[one] for one in machines], len(sizes) - 2 * ends)
    while 0 in count:
        count[count.index(max(count))] -= 1
        count[count.index(0)] += 1
    return order, count


def exo_ring(memory: Sequence[float], sizes: Floats, ends: int) -> Shares:
    """By memory, the most first; the ends of shares are rounded down to layers.

    exo 0.0, ``RingMemoryWeightedPartitioningStrategy``.
    """
    order = sorted(range(len(memory)), key=lambda one: -memory[one])
    layers = len(sizes) - 2 * ends
    upto = np.round(np.cumsum([memory[one] for one in order]) / sum(memory), 5)
    upto[-1] = 1.0
    return order, np.diff((upto * layers).astype(np.int64), prepend=0).tolist()


def llama_cpp(memory: Sequence[float], sizes: Floats, ends: int) -> Shares:
    """By memory, in the order of the devices; a layer goes where its place among all falls.

    llama.cpp without ``--tensor-split``; the output counts as a layer more.
    """
    layers = len(sizes) - 2 * ends
    owner = np.searchsorted(
        np.cumsum(memory) / sum(memory), np.arange(layers) / (layers + 1), side="right"
    )
    return list(range(len(memory))), np.bincount(owner, minlength=len(memory)).tolist()


def equal(memory: Sequence[float], sizes: Floats, ends: int) -> Shares:
    """As many layers each, the first ones one more; embedding and output count as a layer each.

    torchtitan's ``generate_llm_fqn_per_model_part``, for ``torch.distributed.pipelining``.
    """
    each, more = divmod(len(sizes), len(memory))
    count = [each + (at < more) for at in range(len(memory))]
    count[0] -= ends
    count[-1] -= ends
    return list(range(len(memory))), count


def equal_size(memory: Sequence[float], sizes: Floats, ends: int) -> Shares:
    """As many parameters each at most, as stages come; the last machine takes the rest.

    PiPPy's ``split_into_equal_size``, of which ``torch.distributed.pipelining`` was made.
    """
    most, held, count = sizes.sum() / len(memory) * (1 + 1e-9), 0.0, [0] * len(memory)
    at = 0
    for size in sizes.tolist():
        if held + size > most and count[at] and at + 1 < len(memory):
            at, held = at + 1, 0.0
        held += size
        count[at] += 1
    count[0] -= ends
    count[at] -= ends
    return list(range(len(memory))), count


RULES: dict[str, Callable[[Sequence[float], Floats, int], Shares]] = {
    "exo 1.0": exo, "exo 0.0": exo_ring, "llama.cpp": llama_cpp,
    "equal layers": equal, "equal parameters": equal_size,
}  # fmt: skip


def mapped(problem: Pipeline, rule: str, ends: int = 0) -> Mapping | None:
    """Return the mapping of a rule, None where it exceeds a memory.

    ``ends`` stages before the layers go with the first of them, and as many behind with the last.
    """
    machines, count = RULES[rule](problem.memory.tolist(), problem.held, ends)
    used = [at for at, number in enumerate(count) if number]
    edges = np.concatenate([[0], np.cumsum([count[at] for at in used]) + ends])
    edges[-1] += ends
    mapping = Mapping.of(edges.tolist(), [machines[at] for at in used])
    return mapping if fits(problem, mapping) else None


DEVICES = {  # GB, GB/s of its memory, as published
    "RTX 4090": (24, 1008), "RTX 3090": (24, 936), "RTX 3060": (12, 360),
    "RTX 4060 Ti": (16, 288), "A100": (40, 1555), "V100": (32, 900), "T4": (16, 320),
    "Jetson AGX Orin": (64, 204.8), "DGX Spark": (128, 273), "Mac Studio M2 Ultra": (64, 800),
    "Mac Studio M2 Max": (96, 400), "MacBook Pro M3 Max": (36, 300), "Mac mini M4 Pro": (48, 273),
}  # fmt: skip
USABLE = 0.75, 0.9  # of the memory of a computer whose processors share it, and of a card
SHARED = ("Jetson", "DGX", "Mac")
LINKS = {"PCIe 4.0 x16": (31.5, 1e-5), "10 Gbit/s": (1.25, 1e-4), "1 Gbit/s": (0.125, 2e-4)}
"""GB/s by the standard, and seconds of latency, which are assumed."""
SETS = (
    ("three cards in a tower", ("RTX 4090", "RTX 3090", "RTX 3060"), "PCIe 4.0 x16"),
    ("three cards of a cluster", ("A100", "V100", "T4"), "10 Gbit/s"),
    ("three Macs", ("Mac Studio M2 Ultra", "MacBook Pro M3 Max", "Mac mini M4 Pro"), "1 Gbit/s"),
    ("a Mac and a card", ("Mac Studio M2 Max", "RTX 4090"), "10 Gbit/s"),
    ("four small computers",
     ("Jetson AGX Orin", "DGX Spark", "Mac mini M4 Pro", "RTX 4060 Ti"), "1 Gbit/s"),
)  # fmt: skip
BYTES = 4.5 / 8  # of a weight, in blocks of 32 with a scale: llama.cpp's Q4_0
HIDDEN, INNER, KEYS, WORDS, LAYERS = 8192, 28672, 1024, 128256, 80


def llama(names: Sequence[str], link: str, objective: str) -> Pipeline:
    """Return Llama 3.3 70B on devices: an embedding, 80 layers and the output.

    A token reads the weights of every layer once, so a device takes their bytes over the rate of
    its memory; of the embedding it reads one row.
    """
    layer = (2 * HIDDEN * (HIDDEN + KEYS) + 3 * HIDDEN * INNER + 2 * HIDDEN) * BYTES / 1e9
    table = HIDDEN * WORDS * BYTES / 1e9
    weights = np.array([table, *[layer] * LAYERS, table])
    work = weights.copy()
    work[0] = HIDDEN * BYTES / 1e9
    rate, latency = LINKS[link]
    memory = [DEVICES[name][0] * USABLE[not name.startswith(SHARED)] for name in names]
    columns = {"work": work, "data": np.full(LAYERS + 2, 2 * HIDDEN / 1e9), "memory": weights}
    return Pipeline(
        columns, Interconnect(list(names), rate=rate, latency=latency),
        speeds=[DEVICES[name][1] for name in names], memory=memory, objective=objective,
    )  # fmt: skip


def write_devices() -> None:
    """Print and write the table of real devices."""
    used = ", ".join(f"{name} {size} GB, {rate:g} GB/s" for name, (size, rate) in DEVICES.items())
    table = Table(
        "pipelines_devices",
        "Pipelines: Llama 3.3 70B on real devices",
        "The least seconds of a token (latency) and between tokens of a stream of requests "
        "(period), both proved, and by which factor the rule of a system exceeds them; "
        "–: the rule exceeds a memory. Computed, not run: 80 layers, an embedding and the output, "
        f"4.5 bits a weight; a layer takes its bytes over the rate of the memory. {used}: by "
        "published figures; 90 % of the memory of a card is used, 75 % of one that processors "
        "share. Links by their standards, with 10, 100 and 200 µs of latency, which are assumed.",
        ("devices", "link", "objective", "least", *RULES),
        clock="no clock",
    )
    for _, names, link in SETS:
        for objective in OBJECTIVES:
            problem = llama(names, link, objective)
            best = solve(problem, time_limit=LONGER)
            assert best.status == "optimal"
            assert best.objective is not None
            least = best.objective.value
            cells = []
            for rule in RULES:
                mapping = mapped(problem, rule, ends=1)
                if mapping is None:
                    cells.append("–")
                else:
                    value = getattr(values_of(problem, mapping), objective)
                    cells.append(f"{value / least:.2f}")
            table.add(", ".join(names), link, objective, f"{1e3 * least:.2f} ms", *cells)
    table.write()


def write_random() -> None:
    """Print and write the table of random sets."""
    table = Table(
        "pipelines_rules",
        "Pipelines: the rules of systems beside the best mapping",
        f"{RANDOM} sets of 2 to 8 devices, 80 layers, no costs of links; the value of the rule "
        f"over that of the best mapping found in {SHORT:g} s. Proved: sets where that is the "
        "optimum. Sets where a rule exceeds a memory are left out.",
        ("rule", "objective", "sets", "proved", "median", "90 %"),
        clock="no clock",
    )
    ratios: dict[tuple[str, str], list[float]] = {}
    proved = dict.fromkeys(OBJECTIVES, 0)
    for seed in range(RANDOM):
        for objective in OBJECTIVES:
            problem = devices(seed, 2 + seed % 7, objective, linked=False)
            best = solve(problem, time_limit=SHORT)
            assert best.objective is not None
            proved[objective] += best.status == "optimal"
            for rule in RULES:
                mapping = mapped(problem, rule)
                if mapping is not None:
                    value = getattr(values_of(problem, mapping), objective)
                    ratios.setdefault((rule, objective), []).append(value / best.objective.value)
    for (rule, objective), values in sorted(ratios.items()):
        middle, high = np.quantile(values, [0.5, 0.9]).tolist()
        cells = f"{proved[objective]} of {RANDOM}", f"{middle:.2f}", f"{high:.2f}"
        table.add(rule, objective, str(len(values)), *cells)
    table.write()


if __name__ == "__main__":
    for name, write in (("random", write_random), ("devices", write_devices)):
        if name in sys.argv[1:] or len(sys.argv) == 1:
            write()
