"""Adversaries: the table of PISA made again, and each method against proved optima, on all kinds.

``python -m benchmarks.adversary FOLDER PHASE``, where FOLDER keeps what is done, so that a phase
goes on: ``pisa`` (15 schedulers of anrg-saga against one another), ``peer`` (the same pairs by the
search of anrg-saga itself) and ``auto`` (``auto`` against the best of these schedulers) need an
environment with anrg-saga 2.0.2 (https://pypi.org/project/anrg-saga); ``optimum`` (each method of
``auto`` on each kind) does not. ``PHASE 0/2`` and ``PHASE 1/2`` share a phase out. Without a phase
it writes the tables.
"""

from __future__ import annotations

import logging
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmarks.table import Table, keep, kept_in
from makespan import Dag, Grid, Network, TaskGraph, adversary, check, read_problem
from makespan.core.control import Control
from makespan.core.registry import applicability, find_method, register
from makespan.core.solution import Solution
from makespan.flow.kinds import KINDS
from makespan.lab.adversary.document import document_of
from makespan.lab.adversary.search import SMALL
from makespan.reduction.problem import Collective

SCHEDULERS = (
    *("BIL", "CPoP", "Duplex", "ETF", "FCP", "FLB", "FastestNode", "GDL", "HEFT", "MCT", "MET"),
    *("MaxMin", "MinMin", "OLB", "WBA"),
)
"""Those of the table of Coleman and Krishnamachari (IPDPS 2025), by their names there."""
ALIKE_MACHINES = {"ETF", "FCP", "FLB"}  # whose pairs have them there, as in the table of PISA
ALIKE_LINKS = {"BIL", "GDL", "FCP", "FLB"}
LEAST, MOST = 0.1, 1.0  # of all weights, as in anrg-saga's search
STEPS = 459  # from temperature 10 to 0.1 by a factor of 0.99
TRIES = 1
SIZES = {5: (4, 150), 12: (4, 150), 40: (1, 150)}
"""Of ``auto``: the most tasks and machines, to the searches and the problems of each."""
LONGEST = 240.0  # seconds of a search for ``auto``
LIMIT, SOLVE = 6.0, 2.0  # seconds of a search against proved optima, and of each solve in it
Row = dict[str, Any]
logging.disable(logging.WARNING)


@cache
def scheduler(name: str) -> Any:
    """Return a scheduler of anrg-saga, by its name in PISA or that of its class."""
    from saga import schedulers
    from saga.pisa import SCHEDULERS as THEIRS

    return THEIRS[name] if name in THEIRS else getattr(schedulers, name)()


def theirs(problem: TaskGraph) -> tuple[Any, Any]:
    """Return the graph and the network of a problem as anrg-saga has them."""
    from saga import Network as TheirNetwork, TaskGraph as TheirGraph

    dag, network, machines = problem.dag, problem.network, list(problem.machines)
    index = range(len(machines))
    nodes = list(zip(machines, network.speed.tolist(), strict=True))
    links = [(machines[a], machines[b], network.rate[a, b]) for a in index for b in index if a < b]
    edges = zip(dag.source.tolist(), dag.target.tolist(), dag.size.tolist(), strict=True)
    graph = TheirGraph.create(
        list(zip(dag.names, dag.work.tolist(), strict=True)),
        [(dag.names[a], dag.names[b], size) for a, b, size in edges],
    )
    return graph, TheirNetwork.create(nodes, links)


def planned(problem: TaskGraph, name: str) -> Solution:
    """Return what a scheduler of anrg-saga decides, carried out as early as possible."""
    dag, network = problem.dag, problem.network
    random.seed(0)
    graph, links = theirs(problem)
    schedule = scheduler(name).schedule(links, graph)
    place = {task: dag.position[number] for number, task in enumerate(dag.names)}
    sequence = {
        machine: [
            each.name
            for each in sorted(row, key=lambda each: (each.start, place.get(each.name, -1)))
            if each.name in place
        ]
        for machine, row in schedule.mapping.items()
    }
    given = TaskGraph(dag, network, sequence=sequence)
    return find_method("taskgraph", "given-plan").run(given, Control())  # then comes the referee


def register_all() -> None:
    """Register the schedulers of anrg-saga as methods, and the best of them all as one."""

    def add(name: str, plan: Callable[[TaskGraph, Control], Solution]) -> None:
        register("taskgraph", name=name, published=True, complexity="", source="anrg-saga")(plan)

    def method_of(name: str) -> Callable[[TaskGraph, Control], Solution]:
        def plan(problem: TaskGraph, control: Control) -> Solution:
            """Plan by anrg-saga."""
            return planned(problem, name)

        return plan

    for name in SCHEDULERS:
        add(f"saga-{name}", method_of(name))
    add("saga-best", best_of_all)


def best_of_all(problem: TaskGraph, control: Control) -> Solution:
    """Plan by all 20 schedulers of anrg-saga, and take the best; those that fail are left out."""
    from benchmarks import saga_peer

    plans = []
    for name in saga_peer.SCHEDULERS:
        try:
            plans.append(planned(problem, name))
        except Exception:  # of the peer, or a plan that lacks a task
            continue
    return min(plans, key=lambda plan: plan.makespan)


def chains_of_tasks(rng: np.random.Generator, alike: tuple[bool, bool], most: int) -> TaskGraph:
    """Return a start of PISA: a chain of tasks on a complete network, weights uniform."""
    tasks, machines = (int(rng.integers(3, most, endpoint=True)) for _ in "ab")
    draw = partial(rng.uniform, LEAST, MOST)
    dag = Dag.from_arrays(
        work=draw(tasks), source=range(tasks - 1), target=range(1, tasks), size=draw(tasks - 1),
        names=[f"T{number}" for number in range(1, tasks + 1)],
    )  # fmt: skip
    rate = np.ones((machines, machines)) if alike[1] else draw((machines, machines))
    rate = np.triu(rate, 1) + np.triu(rate, 1).T + np.eye(machines)
    return TaskGraph(dag, Network(np.ones(machines) if alike[0] else draw(machines), rate=rate))


def searched(
    method: str, against: str, alike: tuple[bool, bool], most: int = 5, **asked: Any
) -> Row:
    """Search within the ranges of PISA, and return the ratio with how it was found."""
    weights = {"tasks.*.work": (LEAST, MOST), "edges.*.size": (LEAST, MOST)}
    sizes = {
        "tasks": (3, most),
        "edges": (0, most * (most - 1) // 2),
        "network.machines": (3, most),
    }
    links = {} if alike[1] else {"network.rate.*.*": (LEAST, MOST)}
    speeds = {} if alike[0] else {"network.machines.*.speed": (LEAST, MOST)}
    rng = np.random.default_rng(0)
    starts = [chains_of_tasks(rng, alike, most) for _ in range(8)]
    began = time.process_time()
    found = adversary(
        method, starts, against=against, within=weights | sizes | links | speeds,
        **{"iterations": STEPS, "chains": TRIES, "time_limit": None} | asked,
    )  # fmt: skip
    assert found.result is not None
    assert check(found.result).ok
    assert found.reference is None or check(found.reference).ok
    return {
        "ratio": found.ratio, "tried": found.tried, "seconds": time.process_time() - began,
        "faults": len(found.faults), "tasks": len(found.problem.dag),  # type: ignore[union-attr]
    }  # fmt: skip


def pairs() -> Iterator[tuple[str, str, tuple[bool, bool]]]:
    """Yield the pairs of the table, and whether their machines and links are alike."""
    for name, base in product(SCHEDULERS, SCHEDULERS):
        if name != base:
            alike = ({name, base} & ALIKE_MACHINES, {name, base} & ALIKE_LINKS)
            yield name, base, (bool(alike[0]), bool(alike[1]))


def pisa() -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield what the table of PISA asks for, by this search."""
    for name, base, alike in pairs():
        yield f"{name}/{base}", partial(searched, f"saga-{name}", f"saga-{base}", alike)


def peer() -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield the same, by the search of anrg-saga."""
    for name, base, alike in pairs():
        yield f"{name}/{base}", partial(by_peer, name, base, alike)


def by_peer(name: str, base: str, alike: tuple[bool, bool]) -> Row:
    """Return the greatest ratio of as many tries and steps of anrg-saga's own annealing."""
    from saga.pisa import DEFAULT_CHANGE_TYPES, SimulatedAnnealing, SimulatedAnnealingConfig

    fixed = {"NetworkChangeNodeWeight": alike[0], "NetworkChangeEdgeWeight": alike[1]}
    changes = [each.__name__ for each in DEFAULT_CHANGE_TYPES if not fixed.get(each.__name__)]
    config = SimulatedAnnealingConfig(
        max_iterations=1000, max_temp=10.0, min_temp=0.1, cooling_rate=0.99, change_types=changes
    )
    random.seed(0)
    best, began, failed = 0.0, time.process_time(), 0
    rng = np.random.default_rng(0)
    for number in range(TRIES):
        graph, network = theirs(chains_of_tasks(rng, alike, 5))
        with tempfile.TemporaryDirectory() as folder:
            annealing = SimulatedAnnealing(
                name=f"try{number}", scheduler=name, base_scheduler=base, initial_network=network,
                initial_task_graph=graph, data_dir=Path(folder), config=config,
            )  # fmt: skip
            try:
                for each in annealing.run_iter():
                    best = max(best, each.current_energy)
            except Exception:  # a peer that fails has what it found by then
                failed += 1
    return {"ratio": best, "seconds": time.process_time() - began, "failed": failed}


def auto() -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield searches for graphs on which ``auto`` is above the best of the peer's schedulers."""
    for most, (searches, problems) in SIZES.items():
        for seed in range(searches):
            asked = {"rng": seed, "chains": 1, "iterations": problems, "time_limit": LONGEST}
            search = partial(searched, "auto", "saga-best", (False, False), most, **asked)
            yield f"{most} {seed}", search


Variant = tuple[Row, Row]
"""Options of a kind's generator, and keys that its file gets beside."""
ALONE: Variant = ({}, {})
UNIT = {"tasks": [{"name": f"T{number}", "work": 1.0} for number in range(1, 9)]}
PRICED = {
    "network": {
        "topology": "complete",
        "machines": [{"speed": 1.0, "price": 1.0}, {"speed": 2.0, "price": 3.0}],
    },
    "budget": 200.0,
}
COUNTED = {
    **{"segments": "auto", "bytes": 8.0, "message_overhead": 0.5, "latency": 1.0},
    **{"transfer": None, "reduce": None, "transfer_per_byte": 1.0, "reduce_per_byte": 1.0},
}
ORDER = ["P1", "P2", "P3", "P4"]
NO_SENDS, SMALL_MEMORY = (
    {"load": 100.0, "rounds": rounds, "platform": {"topology": "star", "workers": workers}}
    for rounds, workers in (
        (2, [{"compute": rate, "return": 1.0} for rate in (3.0, 5.0, 4.0)]),
        (3, [{"compute": rate, "send": 1.0, "memory": 30.0} for rate in (3.0, 5.0, 4.0)]),
    )
)
VARIANTS: dict[str, tuple[Variant, ...]] = {
    "independent": (
        ALONE, ({"environment": "uniform"}, {}), ({"environment": "unrelated"}, {}),
        ({"equal_counts": True}, {}), ({"preemptive": True}, {}),
        ({"preemptive": True, "environment": "uniform"}, {}),
        ({"preemptive": True, "environment": "unrelated"}, {}),
    ),
    "partition": (
        ALONE, ({"family": "monotone"}, {}), ({"family": "convex"}, {}),
        ({"energy": True, "objective": "energy"}, {}),
        ({"energy": True, "objective": "time-then-energy"}, {}),
    ),
    "pipeline": (
        ALONE, ({"objective": "latency"}, {}), ({"overlap": False}, {}), ({"order": "given"}, {}),
        ({"fastest": 1}, {}), ({"fastest": 1}, {"replicas": 2}), ({"fastest": 1}, {"machines": 3}),
    ),
    "reduction": (
        *(({"collective": name}, {}) for name in get_args(Collective) if name != "custom"),
        ({"spread": 0.0}, {}), ({"spread": 0.0}, {"order": "greedy"}),
        ({"network": "switch"}, {}), ({"network": "switch", "collective": "all-reduce"}, {}),
        ({"spread": 0.0, "collective": "all-reduce"}, {}), ({"spread": 0.0, "segments": 1}, {}),
        ({"spread": 0.0, "machines": 4, "collective": "all-gather"}, {}),
        ({"spread": 0.0}, COUNTED),
    ),
    "taskgraph": (
        ALONE, ({"contention": "ports"}, {}), ({"contention": "links"}, {}),
        ({"communication": "blocking"}, {}), ({"cores": 2, "rigid": 0.5}, {}),
        ({}, {"duplication": True}), ({"ccr": 0.0}, {}), ({"machines": 2}, PRICED),
        ({"ccr": 0.0, "heterogeneity": 1.0, "machines": 2}, UNIT),
    ),
    "divisible": (
        ALONE, ({"returns": 0.5}, {}), ({"latency": 0.0}, {}), ({"slowdown": 2.0}, {}),
        ({"topology": "bus"}, {}), ({"topology": "bus", "latency": 0.0}, {}),
        ({"topology": "tree"}, {}), ({"topology": "tree", "latency": 0.0}, {}),
        ({"topology": "sources"}, {}), ({"topology": "sources", "latency": 0.0}, {}),
        ({}, {"rounds": 2}), ({"returns": 0.5}, {"rounds": 2}), ({}, {"integral": True}),
        ({}, {"ports": "many"}), ({"latency": 0.0}, {"order": ORDER}),
        ({"returns": 0.5}, {"order": ORDER, "return_order": ORDER}),
        ({}, {"activation": ["P1", "P2", "P1", "P3"]}), ({}, NO_SENDS), ({}, SMALL_MEMORY),
        ({"topology": "bus", "heterogeneity": 1.0}, {"rounds": 2}),
        ({"returns": 0.5}, {"rounds": 2, "ports": 2}),
    ),
}  # fmt: skip
NO_RATIO = {"given-plan", "given-loads", "no-load", "pareto"}
"""What carries out a plan, or has several values."""


def optimum() -> Iterator[tuple[str, Callable[[], Row]]]:
    """Yield a search for each method of ``auto`` that applies, on each variant of its kind."""
    for kind, variants in VARIANTS.items():
        for options, keys in variants:
            words = ", ".join(
                f"given {key}" if isinstance(value, (dict, list)) else f"{key}={value}"
                for key, value in (options | keys).items()
                if value is not None
            )
            for method in dict.fromkeys(KINDS[kind].methods.AUTO):
                if method not in NO_RATIO:
                    yield f"{kind}|{method}|{words}", partial(worst, kind, method, options, keys)


def worst(kind: str, method: str, options: Row, keys: Row) -> Row:
    """Return the greatest ratio of a method to a proved optimum that a short search finds."""
    grid = Grid(kind, options={**SMALL[kind], **options}, seeds=8)
    starts = [read_problem({**document_of(each.problem()), **keys}) for each in grid]
    if not any(applicability(find_method(kind, method), each).applies for each in starts):
        return {"ratio": None, "tried": 0}
    found = adversary(method, starts, chains=2, iterations=100, time_limit=LIMIT, solve_limit=SOLVE)
    faults = [note for note, _ in found.faults]
    return {
        "ratio": found.ratio, "tried": found.tried, "faults": faults,
        "left_out": dict(found.left_out),
    }  # fmt: skip


PHASES = {"pisa": pisa, "peer": peer, "auto": auto, "optimum": optimum}


def measured(folder: Path, phase: str, part: str = "0/1") -> None:
    """Do what is missing of a part of a phase."""
    if phase != "optimum":
        register_all()
    number, _, parts = part.partition("/")
    file = folder / f"{phase}{number}.json"
    for index, (key, make) in enumerate(PHASES[phase]()):
        rows = kept_in(file)
        if index % int(parts) == int(number) and key not in rows:
            keep(file, rows | {key: make()})
            print(key, kept_in(file)[key], flush=True)


def rows_of(folder: Path, phase: str) -> Row:
    """Return what all parts of a phase have found."""
    found: Row = {}
    for file in sorted(folder.glob(f"{phase}[0-9].json")):
        found |= kept_in(file)
    return found


def ratio(value: float | None) -> str:
    """Return a ratio for a table."""
    return "" if value is None else f"{value:.3g}"


def worst_of(ours: Row, name: str) -> float:
    """Return the worst ratio of a scheduler to any other one."""
    return max(ours.get(f"{name}/{base}", {}).get("ratio") or 0.0 for base in SCHEDULERS)


def write_pairs(ours: Row, peers: Row) -> None:
    """Write the table of all pairs, and what it says of each scheduler beside the peer's search."""
    steps = f"{TRIES} chain{'s' * (TRIES > 1)} of {STEPS} problems for each pair"
    about = (
        f"{steps}: 3 to 5 tasks and machines, from a chain of tasks, weights of {LEAST:g} to "
        f"{MOST:g}; machines alike for ETF, FCP and FLB, links alike for BIL, GDL, FCP and FLB, as "
        "in PISA (Coleman and Krishnamachari, IPDPS 2025). The schedulers are those of anrg-saga "
        "2.0.2; their plans are carried out as early as possible and refereed here."
    )
    worst_ = [worst_of(ours, name) for name in SCHEDULERS]
    pairs_ = Table(
        "adversary_pisa",
        "Task graphs: the worst ratio found for each pair of schedulers of anrg-saga",
        f"Makespan of the scheduler of the row over that of the column; {len(ours)} pairs of "
        f"{len(SCHEDULERS) * (len(SCHEDULERS) - 1)}. {about} "
        f"{sum(each >= 2 for each in worst_)} of {len(worst_)} schedulers are at least twice as "
        f"long as another one somewhere, {sum(each >= 5 for each in worst_)} at least 5 times. The "
        "paper says of its runs: all 15, and 10 of 15.",
        ("scheduler", *SCHEDULERS, "worst"),
        clock="ratios",
    )
    for name in SCHEDULERS:
        found = [ours.get(f"{name}/{base}", {}).get("ratio") for base in SCHEDULERS]
        pairs_.add(name, *map(ratio, found), ratio(worst_of(ours, name)))
    pairs_.write()
    both = Table(
        "adversary_peer",
        "Task graphs: the search here and that of anrg-saga",
        f"{len(peers)} pairs. {about} Of the peer as many problems from the same start by its own "
        "annealing (temperature 10 to 0.1, factor 0.99), with the makespans that its schedulers "
        "state. The paper says of its own runs that each scheduler is at least twice as long "
        "somewhere, and 10 of 15 at least 5 times.",
        (
            "scheduler",
            "worst here",
            "worst there",
            "pairs at least as bad here",
            "mean here over there",
        ),
        clock="ratios",
    )
    every: list[float] = []
    for name in SCHEDULERS:
        keys = [f"{name}/{base}" for base in SCHEDULERS if f"{name}/{base}" in peers.keys() & ours]
        if not keys:
            continue
        here, there = ([rows[key]["ratio"] or 1.0 for key in keys] for rows in (ours, peers))
        over = [a / b for a, b in zip(here, there, strict=True)]
        every += over
        both.add(
            name, ratio(max(here)), ratio(max(there)),
            f"{sum(each >= 0.999 for each in over)} of {len(over)}",
            ratio(float(np.exp(np.mean(np.log(over))))),
        )  # fmt: skip
    if every:
        mean = ratio(float(np.exp(np.mean(np.log(every)))))
        both.add("all", "", "", f"{sum(o >= 0.999 for o in every)} of {len(every)}", mean)
        both.write()


def write_auto(rows: Row) -> None:
    """Write the table of ``auto`` against the best of the peer's schedulers."""
    table = Table(
        "adversary_auto",
        "Task graphs: `auto` against the best of 20 schedulers of anrg-saga, on its worst problems",
        f"A chain of at most 150 problems and {LONGEST:g} s for each seed, which look for the "
        "greatest ratio of `auto` (1 s a problem) to the best of the 20 plans: of all schedulers "
        "but brute force, SMT and the hybrid of others. A ratio of 1 or less: none was found on "
        "which `auto` is worse.",
        ("most tasks and machines", "searches", "problems", "worst ratio"),
        clock="ratios",
    )
    for most in SIZES:
        found = [row for key, row in rows.items() if key.startswith(f"{most} ")]
        if found:
            worst_of = max(row["ratio"] for row in found)
            table.add(most, len(found), sum(row["tried"] for row in found), f"{worst_of:.4f}")
    table.write()


def write_optimum(rows: Row) -> None:
    """Write the table of each method against proved optima."""
    table = Table(
        "adversary_optimum",
        "All kinds: the worst ratio of each method to a proved optimum that a short search finds",
        f"Two chains of a few hundred problems, at most {LIMIT:g} s together, for each method of "
        "`auto` on each variant of its kind that it applies to, from small random problems; at "
        f"most {SOLVE:g} s a solve, on two cores that others load. The worst of the variants, the "
        "problems that were compared on all of them, and the ratio on each, where it was kept. A "
        "search of hours finds worse; a ratio of 1 proves nothing. A dash: no optimum was proved "
        "in time. Left out are methods that carry out a given plan"
        f"{_never_searched(rows)}.",
        ("kind", "method", "worst ratio", "with", "problems", "each variant"),
        clock="ratios",
    )
    found: dict[tuple[str, str], list[tuple[float, str, int]]] = {}
    for key, row in rows.items():
        kind, method, words = key.split("|")
        if "left_out" in row:  # it applies
            entry = (row["ratio"] or 0.0, words or "the defaults", row["tried"])
            found.setdefault((kind, method), []).append(entry)
    for (kind, method), entries in found.items():
        value, words, _ = max(entries)
        each = "; ".join(
            f"{name} {value:.4g}" if value else f"{name} –" for value, name, _ in entries
        )
        problems = sum(count for *_, count in entries)
        table.add(
            kind, method, f"{value:.4g}" if value else "", words if value else "", problems, each
        )
    table.write()


def _never_searched(rows: Row) -> str:
    """Name the methods of ``auto`` that apply to none of the variants that were searched."""
    applied = {tuple(key.split("|")[:2]) for key, row in rows.items() if "left_out" in row}
    names = [
        f"{method} ({kind})"
        for kind in VARIANTS
        for method in dict.fromkeys(KINDS[kind].methods.AUTO)
        if method not in NO_RATIO and (kind, method) not in applied
    ]
    return f", and, as they were not searched, {', '.join(names)}" if names else ""


if __name__ == "__main__":
    home = Path(sys.argv[1])
    if len(sys.argv) > 2:
        measured(home, *sys.argv[2:])
    else:
        write_pairs(rows_of(home, "pisa"), rows_of(home, "peer"))
        write_auto(rows_of(home, "auto"))
        write_optimum(rows_of(home, "optimum"))
