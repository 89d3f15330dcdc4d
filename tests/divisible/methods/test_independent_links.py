"""Workers behind links of their own, alone and under the master's limits."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from makespan import DivisibleLoad, Master, MethodError, Star, Worker, solve
from makespan.divisible.rounds.links import InTurn
from tests.thorough import few

CASES = Path(__file__).parents[2] / "cases"
RUNS = json.loads((CASES / "measured.json").read_text(encoding="utf-8"))["runs"]


def random_star(generator, count, *, fixed=True, **master):
    scale = 1.0 if fixed else 0.0
    return Star.from_arrays(
        send_per_unit=generator.uniform(0.1, 1.0, count),
        compute_per_unit=generator.uniform(0.5, 3.0, count),
        send_fixed=scale * generator.uniform(0.0, 0.5, count),
        compute_fixed=scale * generator.uniform(0.0, 0.5, count),
        master=Master(**master),
    )


@pytest.mark.parametrize("seed", range(10))
def test_every_worker_alone(seed):
    """One round: all used workers end together, the others could not even start by then."""
    generator = np.random.default_rng(seed)
    star = random_star(generator, 5, compute=4.0 if seed % 2 else None)
    result = solve(DivisibleLoad(load=float(generator.choice([0.3, 20.0])), platform=star,
                                 ports="many"))  # fmt: skip
    assert (result.method, result.status) == ("independent-links", "optimal")
    loads = result.answer["loads"]
    for index, name in enumerate(star.names):
        start = star.send_fixed[index] + star.compute_fixed[index]
        cost = star.send_per_unit[index] + star.compute_per_unit[index]
        most = max(0.0, (result.makespan - start) / cost)
        assert loads[name] == pytest.approx(most, rel=1e-8, abs=1e-9)


def test_results_on_their_own_links():
    """With results a worker's unit costs c + w + d, and its start-ups all three."""
    star = Star.from_arrays(
        send_per_unit=[1.0, 2.0], compute_per_unit=[3.0, 1.0], return_per_unit=[1.0, 0.5],
        return_fixed=[0.5, 0.0],
    )  # fmt: skip
    result = solve(DivisibleLoad(load=10.0, platform=star, ports="many"))
    end = (10.0 + 0.5 / 5.0) / (1 / 5.0 + 1 / 3.5)
    assert result.makespan == pytest.approx(end, rel=1e-9)
    assert result.status == "optimal"


@pytest.mark.parametrize("seed", few(6, 1))
def test_more_rounds_never_hurt(seed):
    """More rounds overlap more; without start-ups the makespan nears the bound."""
    star = random_star(np.random.default_rng(seed), 4, fixed=seed % 2 == 0)
    ends = []
    for rounds in (1, "auto"):
        result = solve(DivisibleLoad(load=50.0, platform=star, rounds=rounds, ports="many"))
        ends.append(result.makespan)
    assert ends == sorted(ends, reverse=True)
    if seed % 2:
        assert ends[-1] <= result.lower_bound * 1.02 < ends[0]


@pytest.mark.parametrize("seed", range(8))
def test_few_sends_at_a_time(seed):
    """Near the best of all ways to deal four workers out to two ports."""
    generator = np.random.default_rng(seed)
    star = random_star(generator, 4, fixed=False, sends=2)
    problem = DivisibleLoad(load=20.0, platform=star, ports="many")
    result = solve(problem)
    order = np.argsort(star.send_per_unit)
    best = 0.0
    for ports in product(range(2), repeat=4):
        port = np.array(ports)
        best = max(best, InTurn(star, order).loads(1.0, port).sum())
    assert 20.0 / best <= result.makespan * (1 + 1e-9)
    assert result.makespan <= 20.0 / best * 1.01


@pytest.mark.parametrize("seed", few(8, 1))
@pytest.mark.parametrize("uplink", [0.5, 2.0, 1e3])
def test_an_uplink(seed, uplink):
    """Valid under the uplink; a wide one does not matter, a narrow one is the bound."""
    generator = np.random.default_rng(seed)
    star = random_star(generator, 4, uplink=uplink)
    result = solve(DivisibleLoad(load=20.0, platform=star, ports="many"))
    free = solve(DivisibleLoad(load=20.0, ports="many", platform=Star(star.workers)))
    assert result.makespan >= max(free.makespan, 20.0 / uplink) * (1 - 1e-9)
    if uplink == 1e3:
        assert result.makespan == pytest.approx(free.makespan, rel=1e-7)
    if uplink == 0.5:
        assert result.makespan <= 1.5 * result.lower_bound


@pytest.mark.parametrize("compute", [0.0, 5.0])
@pytest.mark.parametrize("uplink", [1 / 3, 1e-38, 1e-100])
def test_a_narrow_uplink(uplink, compute):
    """There is an end where all that counts is the uplink, and where a price is a step."""
    workers = [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=compute)]
    star = Star(workers, master=Master(uplink=uplink))
    result = solve(DivisibleLoad(load=3.0, platform=star, ports="many"))
    assert 3.0 / uplink * (1 - 1e-9) <= result.makespan <= (3.0 / uplink + 15.0) * (1 + 1e-9)


def test_limits_together():
    """One send at a time through an uplink is one port on which no unit takes less than that."""
    star = random_star(np.random.default_rng(5), 4, uplink=2.0, sends=1)
    result = solve(DivisibleLoad(load=20.0, platform=star, ports="many"))
    slower = np.maximum(star.send_per_unit, 1 / 2.0)
    one_port = star.changed(send_per_unit=slower, master=Master(compute=star.master.compute))
    best = solve(DivisibleLoad(load=20.0, platform=one_port))
    assert best.status == "optimal"
    assert best.makespan * (1 - 1e-9) <= result.makespan <= 1.02 * best.makespan


@pytest.mark.parametrize("run", [run for run in RUNS if run["name"] != "A_100"],
                         ids=lambda run: run["name"])  # fmt: skip
def test_concurrent_sends_as_measured(run):
    """The plan for free links is predicted no later than the multi-port optimum measured."""
    workers = run["workers"].values()
    star = Star.from_arrays(
        send_per_unit=[w["send"]["per_byte_s"] for w in workers],
        compute_per_unit=[w["compute"]["per_byte_s"] for w in workers],
        send_fixed=[max(0.0, w["send"]["fixed_s"]) for w in workers],
        compute_fixed=[max(0.0, w["compute"]["fixed_s"]) + w["submit_overhead_s"] for w in workers],
    )
    one = solve(DivisibleLoad(load=run["bytes"], platform=star, ports="many"))
    predicted = run["predicted_affine_s"]["multi-port optimum, concurrent"]
    assert one.makespan <= predicted * (1 + 1e-9)
    many = solve(DivisibleLoad(load=run["bytes"], platform=star, rounds="auto", ports="many"))
    assert many.makespan <= one.makespan * (1 + 1e-9)


def test_refusals():
    """Results under a shared limit are refused by name, and so is one port."""
    star = Star.from_arrays(
        send_per_unit=[1.0, 1.0, 1.0], compute_per_unit=1.0, return_per_unit=0.5,
        master=Master(sends=2),
    )  # fmt: skip
    problem = DivisibleLoad(load=1.0, platform=star, ports="many")
    with pytest.raises(MethodError, match="results return"):
        solve(problem, method="independent-links")
    plain = random_star(np.random.default_rng(0), 2)
    with pytest.raises(MethodError, match="ports is 1"):
        solve(DivisibleLoad(load=1.0, platform=plain), method="independent-links")
    late = DivisibleLoad(load=9.0, platform=Star(star.workers), ports="many", deadline=0.1)
    assert solve(late).status == "infeasible"


def test_any_number_of_sends_at_a_time() -> None:
    """More than there are workers limit nothing."""
    workers = [Worker(send=1.0, compute=3.0), Worker(send=2.0, compute=5.0)]
    many, all_ = (
        solve(
            DivisibleLoad(
                load=3.0, platform=Star(workers, master=Master(sends=sends)), ports="many"
            )
        )
        for sends in (2**63, None)
    )
    assert many.makespan == all_.makespan
