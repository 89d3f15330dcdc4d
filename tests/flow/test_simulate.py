"""Plans under errors: zero noise, laws of the factors, groups, every kind, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from makespan import (
    Affine,
    Dag,
    DivisibleLoad,
    IndependentTasks,
    InputError,
    InvalidSchedule,
    Master,
    MethodError,
    Network,
    Noise,
    Partition,
    ProblemError,
    Reduction,
    Star,
    TaskGraph,
    Tree,
    Worker,
    compare,
    simulate,
    solve,
)
from makespan.core import simulation
from makespan.core.noise import DISTRIBUTIONS, as_noise
from makespan.core.numeric import jit
from makespan.core.schedule import Schedule
from makespan.divisible import timing
from makespan.flow import simulate as _simulate


def star_problem(**fields):
    crew = [
        Worker(send=Affine(0.1, 0.2), compute=Affine(0.2, 1.0)),
        Worker(send=Affine(0.05, 0.1), compute=Affine(0.1, 2.0)),
        Worker(send=Affine(0.0, 0.4), compute=Affine(0.0, 0.8)),
    ]
    star = Star(crew, master=Master(compute=Affine(0.5, 3.0)))
    return DivisibleLoad(load=40.0, platform=star, **fields)


def tree_problem():
    tree = Tree.from_arrays(
        parent=[-1, 0, 0, 1],
        send_per_unit=[0.0, 0.2, 0.1, 0.3],
        compute_per_unit=[1.0, 2.0, 1.5, 0.7],
    )
    return DivisibleLoad(load=25.0, platform=tree)


def task_problem(**fields):
    dag = Dag.from_arrays(
        work=[2.0, 3.0, 1.0, 4.0, 2.0],
        source=[0, 0, 1, 2, 3],
        target=[1, 2, 3, 3, 4],
        size=[1.0, 2.0, 1.0, 3.0, 1.0],
    )
    return TaskGraph(dag=dag, network=Network.complete(speeds=[1.0, 2.0], rate=1.0), **fields)


PROBLEMS = {
    "counts": Partition(tasks=4, costs=[[0.0, 1.0, 3.0, 4.0, 6.0], [0.0, 2.0, 3.0, 5.0, 8.0]]),
    "reduction": Reduction(machines=4, segments=3, latency=0.0, transfer=1.0, reduce=1.0),
    "one round": star_problem(),
    "rounds": star_problem(activation=("P1", "P2", "P3", "P2", "P1", "P3", "P2")),
    "tree": tree_problem(),
    "tasks": IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2]),
    "preemptive": IndependentTasks(machines=3, durations=[4, 4, 4, 4, 3, 2], preemptive=True),
    "graph": task_problem(),
    "blocking graph": task_problem(communication="blocking"),
}


@pytest.fixture(scope="module")
def results():
    return {name: solve(problem) for name, problem in PROBLEMS.items()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_noise_reproduces_the_plan(results, name):
    """With an error of 0 every makespan is the plan's."""
    result = results[name]
    simulation = simulate(result, noise=0.0, repetitions=5)
    assert simulation.nominal == pytest.approx(result.makespan, rel=1e-12)
    assert simulation.makespans == pytest.approx([result.makespan] * 5, rel=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_slower_machine_of_a_plan(results, name):
    """When everything takes 30 % longer, so does the plan."""
    result = results[name]
    replay = _simulate.kind_of(result.problem).replay(result.problem, result.schedule, 1)
    slow = replay.makespans(np.full((2, len(result.schedule)), 1.3))
    assert slow == pytest.approx([1.3 * result.makespan] * 2, rel=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_replay_is_retiming(results, name):
    """A replay ends when the plan re-timed with the same factors does."""
    result = results[name]
    kind = _simulate.kind_of(result.problem)
    factors = np.random.default_rng(1).uniform(0.5, 2.0, (20, len(result.schedule)))
    found = kind.replay(result.problem, result.schedule, 20).makespans(factors)
    retimed = kind.timing.retimed
    expected = [retimed(result.problem, result.schedule, row).makespan for row in factors]
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.kernels
def test_the_compiled_replay(monkeypatch, results):
    """The compiled replay of a star ends when the plain one does."""
    result = results["rounds"]
    factors = np.random.default_rng(2).uniform(0.5, 2.0, (10, len(result.schedule)))
    monkeypatch.setattr(jit, "forced", False)
    plain = timing.replay(result.problem, result.schedule, 1).makespans(factors)
    monkeypatch.setattr(jit, "forced", True)
    compiled = timing.replay(result.problem, result.schedule, 10).makespans(factors)
    assert compiled.tolist() == plain.tolist()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("error", [0.0, 0.1, 0.4])
def test_factors(distribution, error):
    """Factors are positive, 1 on average, and spread as told (a cut normal a little less)."""
    drawn = Noise(distribution, error).drawn(np.random.default_rng(0), (200_000,))
    assert drawn.min() > 0
    assert drawn.mean() == pytest.approx(1.0, abs=0.005)
    assert drawn.std() == pytest.approx(error, rel=0.08, abs=1e-12)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_factors_of_several_errors(distribution):
    """Each column has the spread of its own error, and 1 on average."""
    errors = np.array([0.1, 0.0, 0.4])
    drawn = Noise(distribution).drawn(np.random.default_rng(0), (100_000, 3), errors)
    assert drawn.min() > 0
    assert drawn.mean(axis=0) == pytest.approx([1.0] * 3, abs=0.005)
    assert drawn.std(axis=0) == pytest.approx(errors, rel=0.08)


def test_a_chance_of_slow_activities():
    """As many are slow as the chance says, and no activity takes a third time."""
    drawn = Noise("bernoulli", 0.6, chance=0.2).drawn(np.random.default_rng(0), (50_000,))
    slow, fast = max(drawn), min(drawn)
    assert set(drawn.tolist()) == {slow, fast}
    assert np.mean(drawn == slow) == pytest.approx(0.2, abs=0.01)
    assert 0.2 * slow + 0.8 * fast == pytest.approx(1.0)


def test_groups(results):
    """Per machine, all computations of a machine share a factor and sends of a link another."""
    schedule = results["rounds"].schedule
    groups, errors = Noise(error=0.1, per="machine").groups(schedule)
    assert set(errors.tolist()) == {0.1}
    by_row = {}
    for row, record in enumerate(schedule.records()):
        key = (record["kind"], record["machine"], record["peer"])
        by_row.setdefault(key, set()).add(int(groups[row]))
    assert all(len(numbers) == 1 for numbers in by_row.values())
    assert len(set.union(*by_row.values())) == len(by_row)
    only, _ = Noise(transfers=0.1).groups(schedule)
    computes = np.array([word == "compute" for word in schedule.words()])
    assert (only[computes] == -1).all()
    assert sorted(only[~computes]) == list(range(int((~computes).sum())))


ERRORS = {"T1": 0.3, "T3": {"M2": 0.7, "M1": 0.0}}


def test_errors_by_task_and_machine():
    """The error of a task on a machine comes before its own, that before its machine's."""
    noise = Noise("gamma", 0.1, tasks=ERRORS, machines={"M2": 0.2})
    item, machine = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 0, 1, 0, 1, 2])
    found = noise.of_computations(item, machine, ["M1", "M2", "M3"], ["T1", "T2", "T3"])
    assert found.tolist() == [0.3, 0.3, 0.1, 0.2, 0.0, 0.7, 0.1]
    columns = Noise("gamma", 0.1, tasks=np.array([[0.3, 0.3], [0.1, 0.2]]), machines=[0.5, 0.6])
    found = columns.of_computations(item[:4], machine[:4], ["M1", "M2"], ["T1", "T2"])
    assert found.tolist() == [0.3, 0.3, 0.1, 0.2]
    assert as_noise(noise.as_dict()) == noise
    assert as_noise(columns.as_dict()) == columns
    assert "others by task and machine" in str(noise)


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_machine_that_is_uncertain(results, name):
    """Of the durations of a plan, those of one machine change, and no others."""
    result = results[name]
    machine = str(result.schedule.machines[result.schedule.machine[-1]])
    noise = Noise("uniform", machines={machine: 0.5})
    kind = _simulate.kind_of(result.problem)
    groups, errors = noise.groups(result.schedule, kind.tasks(result.problem))
    expected = [
        record["machine"] == machine and record["kind"] in ("compute", "reduce")
        for record in result.schedule
    ]
    assert (groups >= 0).tolist() == expected
    assert set(errors.tolist()) <= {0.5}
    simulate(result, noise=noise, repetitions=3)


def test_one_task_that_is_uncertain(results):
    """With errors of one task, a plan ends as late as that task's chain makes it."""
    result = results["graph"]
    late = simulate(result, noise=Noise("bernoulli", tasks={"T4": 0.3}), repetitions=200)
    assert len(set(late.makespans.tolist())) == 2
    column = simulate(result, noise={"distribution": "bernoulli", "tasks": [0, 0, 0, 0.3, 0]})
    assert set(column.makespans.tolist()) == set(late.makespans.tolist())


def test_policies_with_an_uncertain_worker(results):
    """A policy deals out less to a worker that is slow by chance, and no more than it has."""
    problem = star_problem(rounds="auto")
    for per in ("activity", "machine"):
        noise = Noise("gamma", 0.0, machines={"P2": 0.8}, per=per)
        simulation = simulate(problem, policy="factoring", noise=noise, repetitions=200)
        assert simulation.deviation > 0
        with pytest.raises(ProblemError, match=r"noise\.machines\.P9: there is no machine 'P9'"):
            simulate(problem, policy="factoring", noise=Noise(machines={"P9": 0.1}, per=per))


def test_noise_on_transfers_leaves_computation(results):
    """Errors of transfers alone do not change a plan without transfers."""
    simulation = simulate(results["tasks"], noise=Noise("gamma", transfers=0.5))
    assert set(simulation.makespans.tolist()) == {results["tasks"].makespan}


def test_statistics_and_seed(results):
    """Mean, quantiles and text come from the makespans; the seed decides them."""
    first = simulate(results["rounds"], noise=0.2, repetitions=400, rng=3)
    again = simulate(results["rounds"], noise=0.2, repetitions=400, rng=3)
    other = simulate(results["rounds"], noise=0.2, repetitions=400, rng=4)
    assert first.makespans.tolist() == again.makespans.tolist() != other.makespans.tolist()
    assert first.mean == pytest.approx(np.mean(first.makespans))
    assert first.quantiles[0.5] == first.quantile(0.5) == pytest.approx(np.median(first.makespans))
    assert first.deviation == pytest.approx(np.std(first.makespans))
    assert first.mean > first.nominal
    assert "400 repetitions, normal error of 20 % per activity" in str(first)
    assert first.as_dict()["quantiles"]["0.5"] == first.quantile(0.5)
    assert not first.makespans.flags.writeable


def test_blocks_do_not_change_the_draws(monkeypatch, results):
    """Many rows are drawn in blocks of repetitions, with the same numbers."""
    whole = simulate(results["rounds"], noise=0.2, repetitions=50)
    monkeypatch.setattr(simulation, "NUMBERS_AT_ONCE", 40)
    blocks = simulate(results["rounds"], noise=Noise("uniform", 0.2), repetitions=50)
    monkeypatch.undo()
    uniform = simulate(results["rounds"], noise=Noise("uniform", 0.2), repetitions=50)
    assert blocks.makespans.tolist() == uniform.makespans.tolist()
    assert blocks.makespans.tolist() != whole.makespans.tolist()


def test_more_errors_end_later(results):
    """The mean makespan grows with the error."""
    means = [simulate(results["one round"], noise=e).mean for e in (0.0, 0.1, 0.2, 0.4)]
    assert means == sorted(means)
    assert means[-1] > 1.05 * means[0]


def test_refusals(results):
    """What can't be simulated is refused by name."""
    result = results["tasks"]
    with pytest.raises(InputError, match="repetitions: 0"):
        simulate(result, noise=0.1, repetitions=0)
    with pytest.raises(InputError, match=r"repetitions: 2\.5"):
        simulate(result, noise=0.1, repetitions=2.5)
    with pytest.raises(InputError, match="no schedule"):
        simulate(result.problem, noise=0.1)
    with pytest.raises(MethodError, match="no policy 'factory'"):
        simulate(result, policy="factory", noise=0.1)
    with pytest.raises(ProblemError, match=r"noise\.error: -0\.1 is negative"):
        simulate(result, noise=-0.1)
    with pytest.raises(ProblemError, match="widest normal error"):
        Noise("normal", 0.7)
    with pytest.raises(ProblemError, match=r"noise\.distribution: 'cauchy'"):
        Noise("cauchy", 0.1)
    for table, text in (
        ({"tasks": {"T9": 0.1}}, r"noise\.tasks\.T9: there is no task 'T9'; known are T1"),
        ({"tasks": [0.1]}, r"noise\.tasks: has 1 entries; there are 6 tasks"),
        ({"tasks": {"T1": {"M7": 0.1}}}, r"noise\.tasks\.T1\.M7: there is no machine 'M7'"),
        ({"tasks": {"T1": -0.1}}, r"noise\.tasks\.T1: -0\.1 is negative"),
        ({"tasks": [0.1, [0.7]]}, r"noise\.tasks\[1\]\[0\]: 0\.7 is above 0\.5"),
        ({"tasks": "all"}, r"noise\.tasks: 'all' is not a table of errors"),
        ({"machines": {"M1": {"T1": 0.1}}}, r"noise\.machines\.M1: .* is not a number"),
        ({"tasks": {"T1": 0.1}, "per": "machine"}, r"noise\.tasks: can't be given where all"),
        ({"transfers": "some"}, r"noise\.transfers: 'some' is not a number"),
        ({"chance": 1.0}, r"noise\.chance: 1\.0 is above"),
        ({"eror": 0.1}, r"noise\.eror: there is no such entry; did you mean 'error'"),
    ):
        with pytest.raises(ProblemError, match=text):
            simulate(result, noise=table)
    with pytest.raises(ProblemError, match=r"noise\.tasks: what is computed here has no names"):
        simulate(results["rounds"], noise=Noise(tasks={"T1": 0.1}))
    wrong = Schedule.of_rows(result.schedule.machines, [("compute", 0, -1, 0, 4.0, 0.0, 4.0)])
    with pytest.raises(InvalidSchedule):
        simulate(result.problem, wrong, noise=0.1)
    with pytest.raises(InputError, match="only one of them"):
        simulate(result, result.schedule, policy="factoring", noise=0.1)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda problem: solve(problem, seed=3), "rng"),
        (lambda problem: solve(problem, mehtod="auto"), "method"),
        (lambda problem: solve(problem, method="lpt", timelimit=3), "time_limit"),
        (lambda problem: compare(problem, seed=3), "rng"),
        (lambda problem: compare(problem, method="lpt"), "methods"),
        (lambda problem: simulate(solve(problem), noise=0.1, repeat=3), "repetitions"),
    ],
)
def test_wrong_keywords(call, meant):
    """A wrong keyword of a verb names the nearest of all that are allowed."""
    problem = IndependentTasks(machines=2, durations=[3, 2, 1])
    with pytest.raises((MethodError, TypeError), match=f"did you mean '{meant}'"):
        call(problem)
