"""MSCCL: programmes for collectives in XML, as runtimes compatible with NCCL execute them.

Every machine is a ``<gpu>``. It has a thread block, ``<tb>``, for every peer that it sends to, and
for every one that it receives from; a send is a ``<step>`` on both ends. Steps wait for others of
their GPU (``depid``, ``deps``): for what they read or overwrite, and for the send or the reception
before. A step waits for one other; what it waits for besides stands in steps ``nop`` before it.

Source: the runtimes' parsers and interpreters (github.com/microsoft/msccl, github.com/ROCm/rccl),
and Cowan et al. 2023, "MSCCLang: Microsoft collective communication language".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from makespan.core.errors import FileError, InputError
from makespan.core.inputs.documents import local
from makespan.core.inputs.rules import Mistakes, quoted
from makespan.core.numeric.arrays import Integers
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAMES = {
    "reduce": "reduce",
    "broadcast": "broadcast",
    "all-reduce": "allreduce",
    "all-gather": "allgather",
    "reduce-scatter": "reducescatter",
    "gather": "gather",
    "scatter": "scatter",
    "all-to-all": "alltoall",
}
DEALT = ("all-gather", "reduce-scatter", "gather", "scatter", "all-to-all")
INPUT, OUTPUT, SCRATCH = "i", "o", "s"
RECEIVING = ("r", "rcs", "rrs", "rrc", "rrcs")
SENDING = ("s", "rcs", "rrs", "rrcs")
COMBINING = ("rrs", "rrc", "rrcs")
USING = {
    "src": ("s", "cpy", "re", "rrs", "rrc", "rrcs"), "dst": ("r", "cpy", "re", "rcs", "rrc", "rrcs")
}  # fmt: skip
"""The steps that use the cell of their own GPU that ``src`` or ``dst`` names."""


class Cell(NamedTuple):
    """A chunk of a buffer: which buffer, and the how manieth chunk of it."""

    buffer: str
    offset: int


class Step(NamedTuple):
    """A step of a file: what it does, with which chunks, and which block and step it waits for."""

    kind: str
    source: Cell
    target: Cell
    chunks: int
    waits: tuple[int, int] | None


class Block(NamedTuple):
    """A thread block of a file: its peers, -1 for none, its channel, its steps."""

    send: int
    receive: int
    channel: int
    steps: list[Step]


Programme = list[dict[int, Block]]  # the thread blocks of every GPU, by their ids


def in_buffers(problem: Reduction) -> Integers:
    """Return the segments that buffers hold, in their order: of one machine after another."""
    own = np.arange(problem.items)
    if problem.collective not in DEALT:
        return own
    owner, own = np.divmod(own, int(problem.segments))
    part, machine = np.divmod(own, len(problem.machines))
    return np.lexsort((part, machine, owner))


def held(order: Integers, table: Bools) -> list[Integers]:
    """Return the segments in the buffer of every machine; ``table`` says which it holds."""
    return [order[row[order]] for row in table]


COLLECTIVES = {**{name: own for own, name in NAMES.items()}, "reduce_scatter": "reduce-scatter"}
STEPS = (*RECEIVING, "s", "cpy", "re", "nop")
SIZES = {INPUT: "i_chunks", OUTPUT: "o_chunks", SCRATCH: "s_chunks"}


def problem_in(root: Element, given: Reduction | None) -> Reduction:
    """Return the problem with its number of segments; of unit costs where none is given."""
    mistakes = Mistakes()
    machines = _whole(root, "ngpus", "algo", mistakes, 1)
    chunks = _whole(root, "nchunksperloop", "algo", mistakes, 1)
    name = root.get("coll", "")
    if name not in COLLECTIVES:
        known = ", ".join(COLLECTIVES)
        mistakes.add("algo.coll", f"{quoted(name)} is not a collective read here; {known} are")
    mistakes.raise_if_any(FileError)
    collective: Any = COLLECTIVES[name]
    if given is None:
        try:
            return Reduction(
                machines=machines, segments=chunks, collective=collective, transfer=1.0
            )
        except InputError as error:
            raise FileError(error.mistakes) from None
    for key, found, own in (
        ("coll", collective, given.collective),
        ("ngpus", machines, len(given.machines)),
        ("nchunksperloop", chunks, chunks if given.segments == "auto" else given.segments),
    ):
        if found != own:
            mistakes.add(f"algo.{key}", f"is {found!r} here, but {own!r} in the problem")
    mistakes.raise_if_any(FileError)
    return given.with_segments(chunks)


def _whole(
    element: Element,
    key: str,
    place: str,
    mistakes: Mistakes,
    low: int = -1,
    high: float = math.inf,
) -> int:
    """Return an attribute that is a whole number in a range."""
    value = element.get(key, "")
    found = int(value) if value.removeprefix("-").isdecimal() and len(value) < 10 else None
    if found is not None and low <= found <= high:
        return found
    allowed = f"{low} or more" if high == math.inf else f"from {low} to {high}"
    mistakes.add(f"{place}.{key}", f"{quoted(value)} is not a whole number {allowed}")
    return max(0, low)


def programme_in(root: Element, problem: Reduction) -> Programme:
    """Return the thread blocks of every GPU by their ids, or raise FileError with the mistakes."""
    mistakes, machines = Mistakes(), len(problem.machines)
    found: Programme = [{} for _ in range(machines)]
    gpus = {part.get("id", ""): part for part in root if local(part) == "gpu"}
    if gpus.keys() != set(map(str, range(machines))):
        raise FileError(f"algo: has {len(gpus)} GPUs of their own ids; 0 to {machines - 1} are due")
    ends: set[tuple[int, int, int, bool]] = set()
    for number, blocks in enumerate(found):
        gpu, where = gpus[str(number)], f"GPU {number}"
        sizes = {buffer: _whole(gpu, key, where, mistakes, 0) for buffer, key in SIZES.items()}
        for part in gpu:
            if local(part) != "tb":
                continue
            name = _whole(part, "id", where, mistakes, 0)
            place = f"{where}, tb {name}"
            if name in blocks:
                mistakes.add(place, "stands twice")
            block = blocks[name] = _block(part, place, sizes, machines - 1, mistakes)
            for key, one, two in (("send", number, block.send), ("recv", block.receive, number)):
                end = (one, two, block.channel, key == "send")
                if one == two:
                    mistakes.add(f"{place}.{key}", f"{number} is the GPU itself")
                if min(one, two) >= 0 and end in ends:
                    mistakes.add(f"{place}.{key}", "another tb has this peer on this channel")
                if min(one, two) >= 0 and problem.links is not None and not problem.links[one, two]:
                    missing = (
                        f"no link leads from {problem.machines[one]} to {problem.machines[two]}"
                    )
                    mistakes.add(f"{place}.{key}", missing)
                ends.add(end)
        _check_waits(where, blocks, mistakes)
    mistakes.raise_if_any(FileError)
    return found


def _check_waits(where: str, blocks: dict[int, Block], mistakes: Mistakes) -> None:
    """Note which steps wait for steps that are not there."""
    for name, block in blocks.items():
        for index, step in enumerate(block.steps):
            if step.waits is not None:
                other, number = step.waits
                if other not in blocks or not 0 <= number < len(blocks[other].steps):
                    text = f"waits for tb {other}, step {number}; there is none"
                    mistakes.add(f"{where}, tb {name}, step {index}", text)


def _block(
    part: Element, place: str, sizes: dict[str, int], last: int, mistakes: Mistakes
) -> Block:
    send, receive = (_whole(part, key, place, mistakes, high=last) for key in ("send", "recv"))
    channel = _whole(part, "chan", place, mistakes, 0)
    steps = [each for each in part if local(each) == "step"]
    block = Block(send, receive, channel, [])
    for index, each in enumerate(steps):
        here = f"{place}, step {index}"
        if each.get("s") != str(index):
            mistakes.add(f"{here}.s", f"{quoted(each.get('s'))} is not {index}; steps are in order")
        kind = each.get("type", "")
        if kind not in STEPS:
            mistakes.add(f"{here}.type", f"{quoted(kind)} is not a step; {', '.join(STEPS)} are")
        for peer, kinds in ((send, SENDING), (receive, RECEIVING)):
            if kind in kinds and peer < 0:
                mistakes.add(f"{here}.type", f"{kind!r} needs a peer, which its tb lacks")
        count = 0 if kind == "nop" else _whole(each, "cnt", here, mistakes, 1)
        cells = {}
        for end, using in USING.items():
            cells[end] = _cell(each, end, here, mistakes, sizes, count, kind in using)
        waits = [_whole(each, key, here, mistakes) for key in ("depid", "deps")]
        known = (waits[0], waits[1]) if waits[0] >= 0 else None
        block.steps.append(Step(kind, cells["src"], cells["dst"], count, known))
    return block


def _cell(
    step: Element, end: str, place: str, mistakes: Mistakes, sizes: dict[str, int], count: int,
    used: bool,
) -> Cell:  # fmt: skip
    if not used:
        return Cell(INPUT, -1)
    buffer = step.get(f"{end}buf", "")
    if buffer not in sizes:
        mistakes.add(f"{place}.{end}buf", f"{quoted(buffer)} is not a buffer; i, o and s are")
        return Cell(INPUT, -1)
    last = sizes[buffer] - count
    return Cell(buffer, _whole(step, f"{end}off", place, mistakes, 0, last))
