"""MSCCL files: what is written does what its collective says, and what is read is the same plan."""

import dataclasses
import random
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import makespan
from makespan import Reduction
from makespan.core.errors import FileError, InputError
from makespan.core.report import InvalidSchedule
from makespan.reduction.formats import msccl
from makespan.reduction.sends import Sends
from makespan.reduction.timing import in_order
from tests.oracles.msccl_programme import meaning, outcome
from tests.thorough import few

ANY_COUNT = ("reduce", "broadcast", "all-reduce")
DEALT = ("all-gather", "reduce-scatter", "gather", "scatter", "all-to-all")


def a_problem(collective: Any, seed: int) -> Reduction:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    m = int(rng.integers(1, 5)) if collective in ANY_COUNT else n * int(rng.integers(1, 3))
    return Reduction(
        machines=n,
        segments=m,
        collective=collective,
        latency=rng.integers(0, 4, (n, n)),
        transfer=rng.integers(1, 4, (n, n)),
        reduce=rng.integers(0, 3, n),
    )


def a_plan(problem: Reduction, seed: int) -> makespan.Result:
    return makespan.solve(problem, time_limit=0.05, rng=seed)


@pytest.mark.parametrize("seed", few(4, 1))
@pytest.mark.parametrize("collective", ANY_COUNT + DEALT)
def test_a_file_does_what_its_collective_says(collective: str, seed: int) -> None:
    problem = a_problem(collective, seed)
    result = a_plan(problem, seed)
    text = msccl.write(problem, result.schedule)
    root = ElementTree.fromstring(text)
    chunks = int(root.attrib["nchunksperloop"])
    assert chunks == problem.segments
    expected = meaning(root.attrib["coll"], len(problem.machines), chunks)
    generator = random.Random(seed)
    for room in (0, 1, 1, 2, 100):
        assert outcome(text, generator, room=room) == expected


@pytest.mark.parametrize("seed", few(range(4, 8), 1))
@pytest.mark.parametrize("collective", ANY_COUNT + DEALT)
def test_a_plan_that_was_written_is_read_again(collective: str, seed: int) -> None:
    problem = a_problem(collective, seed)
    result = a_plan(problem, seed)
    text = msccl.write(problem, result.schedule)
    known, schedule = msccl.read(text, problem)
    assert known is problem
    assert makespan.check(problem, schedule).ok
    assert schedule.makespan <= result.makespan * (1 + 1e-9)
    stated, schedule = msccl.read(text)
    assert (stated.collective, stated.segments) == (problem.collective, problem.segments)
    assert makespan.check(stated, schedule).ok


def test_one_machine_copies_its_input() -> None:
    for collective in ANY_COUNT + DEALT:
        problem = Reduction(machines=1, segments=2, collective=collective, transfer=1)  # type: ignore[arg-type]
        text = msccl.write(problem, makespan.solve(problem).schedule)
        name = ElementTree.fromstring(text).attrib["coll"]
        assert outcome(text, random.Random(1), room=0) == meaning(name, 1, 2)
        assert len(msccl.read(text)[1]) == 0


def test_sends_that_overtake_each_other_are_written_so_that_they_end() -> None:
    """M1's message to M3 is long on its way; M2's is there first, and waits for M1's second."""
    latency = np.array([[0, 0, 9], [0, 0, 0], [0, 0, 0]])
    problem = Reduction(machines=3, segments=2, collective="broadcast", latency=latency, transfer=1)
    columns = np.array([(0, 2, 0), (0, 1, 1), (1, 2, 1), (0, 1, 0)]).T
    sends = Sends(
        sender=columns[0], receiver=columns[1], segment=columns[2], final=np.ones(4, dtype=bool)
    )
    plan = in_order(problem, sends, np.array([1, 2, 3, 0]))
    assert plan is not None
    assert makespan.check(problem, plan).ok
    assert plan.makespan == 10
    found = outcome(msccl.write(problem, plan), random.Random(0), room=0)
    assert found == meaning("broadcast", 3, 2)


def fused(collective: str, count: int, steps: dict[int, str], *, in_place: int = 0) -> str:
    """Return a file of one thread block a GPU: ``send recv`` and its steps."""
    gpus = []
    for gpu, (peers, *lines) in ((g, text.split("; ")) for g, text in steps.items()):
        send, receive = peers.split()
        rows = []
        for number, line in enumerate(lines):
            kind, source, target = line.split()
            rows.append(
                f'<step s="{number}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1:]}" '
                f'dstbuf="{target[0]}" dstoff="{target[1:]}" cnt="1" depid="-1" deps="-1" '
                'hasdep="0"/>'
            )
        block = f'<tb id="0" send="{send}" recv="{receive}" chan="0">{"".join(rows)}</tb>'
        gpus.append(f'<gpu id="{gpu}" i_chunks="2" o_chunks="2" s_chunks="1">{block}</gpu>')
    return (
        f'<algo name="a" ngpus="{len(steps)}" nchunksperloop="{count}" coll="{collective}" '
        f'inplace="{in_place}" outofplace="{1 - in_place}">{"".join(gpus)}</algo>'
    )


FUSED = {
    "a chain of copies": (
        fused("broadcast", 1, {
            0: "1 -1; s i0 o0; cpy i0 o0", 1: "2 0; rcs i0 o0", 2: "-1 1; r i0 o0",
        }),
        [(0, 1, 0), (1, 2, 0)],
    ),
    "a chain of sums": (
        fused("reduce", 1, {2: "1 -1; s i0 i0", 1: "0 2; rrs i0 i0", 0: "-1 1; rrc i0 o0"}),
        [(2, 1, 0), (1, 0, 0)],
    ),
    "a ring": (
        fused("allreduce", 1, {
            0: "1 1; s i0 i0; r o0 o0", 1: "0 0; rrcs i0 o0",
        }),
        [(0, 1, 0), (1, 0, 0)],
    ),
    "a sum of what was received": (
        fused("reduce", 1, {1: "0 -1; s i0 s0", 0: "-1 1; r i0 s0; cpy i0 o0; re s0 o0"}),
        [(1, 0, 0)],
    ),
    "in place": (
        fused("allgather", 2, {0: "1 1; s o0 o0; r o1 o1", 1: "0 0; s i0 o1; r o0 o0"}, in_place=1),
        [(0, 1, 0), (1, 0, 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED)
def test_files_of_others_are_read(name: str) -> None:
    text, expected = FUSED[name]
    problem, schedule = msccl.read(text)
    assert makespan.check(problem, schedule).ok
    sends = schedule.kind == 0
    columns = (schedule.machine[sends], schedule.peer[sends], schedule.item[sends])
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == sorted(expected)


GOOD = FUSED["a chain of copies"][0]
FAULTS = {
    "entities": ('<!DOCTYPE a [<!ENTITY b "c">]>' + GOOD, "declares entities"),
    "something else": ("<adag/>", "is XML ('adag'), but not MSCCL"),
    "no XML": ("<algo", "is not MSCCL"),
    "collective": (GOOD.replace("broadcast", "custom"), "algo.coll: 'custom'"),
    "a missing number": (GOOD.replace('ngpus="3"', ""), "algo.ngpus"),
    "too many chunks": (GOOD.replace('loop="1"', 'loop="999999999"'), "segments"),
    "GPUs": (GOOD.replace('gpu id="2"', 'gpu id="3"'), "0 to 2 are due"),
    "a step": (GOOD.replace('"rcs"', '"rst"'), "GPU 1, tb 0, step 0.type: 'rst' is not a step"),
    "a buffer": (GOOD.replace('srcbuf="i"', 'srcbuf="x"', 1), "GPU 0, tb 0, step 0.srcbuf: 'x'"),
    "an offset": (GOOD.replace('srcoff="0"', 'srcoff="2"', 1), "from 0 to 1"),
    "a peer": (GOOD.replace('send="2" recv="0"', 'send="-1" recv="0"'), "'rcs' needs a peer"),
    "itself": (GOOD.replace('send="2" recv="0"', 'send="1" recv="0"'), "is the GPU itself"),
    "a dependency": (GOOD.replace('depid="-1"', 'depid="7"', 1), "tb 7, step -1; there is none"),
    "no end": (GOOD.replace('send="1" recv="-1"', 'send="2" recv="-1"'), "can't be executed"),
    "no message": (GOOD.replace('recv="1"', 'recv="0"'), "can't be executed to its end: GPU 2"),
    "not taken": (
        re.sub(r'<tb id="0" send="-1" recv="1".*?</tb>', "", GOOD), "GPU 1 sends more to GPU 2"),
    "a wrong chunk": (GOOD.replace("broadcast", "allreduce"), "1 of 3 parts of S1 in the end"),
    "an empty chunk": (GOOD.replace('srcbuf="i"', 'srcbuf="s"', 1), "buffer s holds nothing"),
    "given away twice": (
        fused("allreduce", 1, {0: "1 1; s i0 i0; rrc i0 o0", 1: "0 0; s i0 i0; rrc i0 o0"}),
        "after it gave its part away",
    ),
    "in a circle": (
        fused("reduce", 1, {0: "1 1; s i0 i0; r o0 o0", 1: "0 0; rrcs i0 o0"}),
        "some sends wait for each other",
    ),
    "counted twice": (
        fused("reduce", 1, {0: "-1 1; rrc i0 o0; rrc o0 o0", 1: "0 -1; s i0 i0; s i0 i0"}),
        "GPU 1 gives away 1 of 2 parts of S1 after",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_with_a_file_is_said(name: str, tmp_path: Path) -> None:
    text, said = FAULTS[name]
    path = tmp_path / "plan.msccl.xml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        makespan.read_result(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_deep_files_are_read_or_refused() -> None:
    with pytest.raises(FileError):
        msccl.read("<algo>" + "<gpu>" * 100_000 + "</gpu>" * 100_000 + "</algo>")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"collective": "custom", "before": [[1], [1]], "after": [[2], [3]]}, "'custom' is not"),
        ({"collective": "all-gather", "segments": 4}, "segments: 4 can't be dealt to 3 machines"),
        ({"segment_sizes": [1, 2]}, "segment_sizes: differ"),
        ({"segments": 260, "machines": 2}, "260 steps in a thread block; runtimes take 256"),
    ],
)  # fmt: skip
def test_what_the_format_can_not_say_is_refused(changes: dict[str, Any], said: str) -> None:
    problem = Reduction(**{"machines": 3, "segments": 2, "transfer": 1, **changes})
    with pytest.raises(InputError, match=re.escape(said)):
        msccl.write(problem, makespan.solve(problem, time_limit=0.0).schedule)


def test_results_are_saved_and_read(tmp_path: Path) -> None:
    problem = Reduction(machines=3, segments=2, latency=1, transfer=2, reduce=1)
    result = makespan.solve(problem)
    path = tmp_path / "plan.msccl.xml"
    makespan.save(result, path)
    found = makespan.read_result(path)
    assert found.status == "feasible"
    assert "says no times" in found.notes[0]
    assert makespan.check(found).ok
    other = path.rename(tmp_path / "plan.xml")
    assert makespan.read_result(other).schedule == found.schedule
    with pytest.raises(FileError, match="a problem is needed here"):
        makespan.read_problem(other)
    with pytest.raises(FileError, match="allowed are"):
        makespan.save(result.schedule, path)
    broken = dataclasses.replace(result, schedule=result.schedule.take(range(2)))
    with pytest.raises(InvalidSchedule, match="check says more"):
        makespan.save(broken, path)


def test_a_file_of_another_problem_is_refused() -> None:
    problem = Reduction(machines=4, segments=2, transfer=1)
    with pytest.raises(FileError, match=r"algo.ngpus: is 3 here, but 4 in the problem"):
        msccl.read(GOOD, problem)


def test_a_file_with_sends_over_missing_links_is_refused() -> None:
    table = [[0, 1, 1], [1, 0, np.inf], [1, 1, 0]]
    problem = Reduction(machines=3, segments=1, collective="broadcast", transfer=table)
    with pytest.raises(FileError, match=r"GPU 1, tb 0\.send: no link leads from M2 to M3"):
        msccl.read(GOOD, problem)
    plan = makespan.solve(problem).schedule
    assert msccl.read(msccl.write(problem, plan), problem)[1].makespan == plan.makespan
