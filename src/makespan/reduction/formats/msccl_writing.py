"""A plan as an MSCCL file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from makespan.core.errors import ProblemError
from makespan.core.inputs.rules import Mistakes
from makespan.core.schedule import Schedule
from makespan.reduction.formats.msccl_reading import (
    DEALT,
    INPUT,
    NAMES,
    OUTPUT,
    SCRATCH,
    Cell,
    held,
    in_buffers,
)
from makespan.reduction.model import Bools
from makespan.reduction.problem import Reduction
from makespan.reduction.sends import segment_count
from makespan.reduction.timing import one_by_one

MOST_STEPS, MOST_BLOCKS, MOST_NODES = 256, 216, 4096
"""Steps of a thread block, thread blocks and elements of a GPU, as many as runtimes take."""
PEERS_OF_CHANNEL, MOST_CHANNELS = 32, 32
SENDING, RECEIVING = Cell("port", 0), Cell("port", 1)
"""Stand for the ports of a GPU: what follows on one waits as for what it overwrites."""
MOST_BYTES = 2**40


def write(problem: Reduction, schedule: Schedule) -> str:
    """Return a valid plan as the text of a file.

    GPU i is the i-th machine, the root GPU 0. Input and output are different buffers. Raises
    ProblemError with everything that the format can't say, or its runtimes don't take. Complexity:
    O(sends log sends).
    """
    schedule = schedule.renamed(problem.machines)
    problem = problem.with_segments(segment_count(problem, schedule))
    _refuse(problem)
    sends = one_by_one(problem, schedule)
    columns = (column.tolist() for column in (sends.sender, sends.receiver, sends.segment))
    gpus = _gpus(problem)
    for one, two, segment, final in zip(*columns, sends.final.tolist(), strict=True):
        channel = (two - one) % len(gpus) // PEERS_OF_CHANNEL
        source = gpus[one].place[segment]
        own, target = gpus[two].arriving(segment, final)
        kind = "rrc" if own else "r"
        gpus[one].do(_Key(two, -1, channel), "s", source, target, [source], [SENDING])
        reads = [own] if own else []
        gpus[two].do(
            _Key(-1, one, channel), kind, own or source, target, reads, [target, RECEIVING]
        )
        gpus[two].place[segment] = target
    for gpu in gpus:
        gpu.copy_to_output()
    return _text(problem, gpus)


def _refuse(problem: Reduction) -> None:
    machines, mistakes = len(problem.machines), Mistakes()
    if problem.collective not in NAMES:
        known = ", ".join(NAMES)
        mistakes.add("collective", f"{problem.collective!r} is not known to MSCCL; {known} are")
    elif problem.collective in DEALT and int(problem.segments) % machines:
        many = f"{problem.segments} can't be dealt to {machines} machines"
        mistakes.add("segments", f"{many}; in MSCCL each gets as many as another")
    if problem.segment_sizes is not None and np.ptp(problem.segment_sizes):
        mistakes.add("segment_sizes", "differ; the chunks of MSCCL are of one size")
    if machines > PEERS_OF_CHANNEL * MOST_CHANNELS:
        most = PEERS_OF_CHANNEL * MOST_CHANNELS
        mistakes.add("machines", f"{machines} are more than the {most} that runtimes take")
    mistakes.raise_if_any(ProblemError)


class _Key(NamedTuple):
    """What tells the thread blocks of a GPU apart: the peers, -1 for none, and the channel."""

    send: int
    receive: int
    channel: int


COPYING = _Key(-1, -1, 0)


@dataclass(slots=True, eq=False)
class _Step:
    block: _Key
    place: int
    kind: str
    source: Cell
    target: Cell
    waits: list[_Step]
    awaited: bool = False
    number: int = -1


def _place(step: _Step) -> int:
    return step.place


@dataclass(slots=True)
class _Gpu:
    """The thread blocks of a GPU as they grow, and where it has what."""

    inputs: dict[int, Cell]
    outputs: dict[int, Cell]
    place: dict[int, Cell]
    blocks: dict[_Key, list[_Step]] = field(default_factory=dict)
    writers: dict[Cell, _Step] = field(default_factory=dict)
    readers: dict[Cell, list[_Step]] = field(default_factory=lambda: defaultdict(list))
    scratch: dict[int, Cell] = field(default_factory=dict)
    awaited: dict[tuple[_Key, _Key], int] = field(default_factory=dict)

    def arriving(self, segment: int, final: bool) -> tuple[Cell | None, Cell]:
        """Return the part that what arrives is combined with, if any, and where it goes."""
        target = self.outputs.get(segment) or self.scratch.get(segment)
        if target is None:
            target = self.scratch[segment] = Cell(SCRATCH, len(self.scratch))
        return None if final else self.place.get(segment), target

    def copy_to_output(self) -> None:
        """Copy what must be in the output and is not."""
        for segment, target in self.outputs.items():
            source = self.place[segment]
            if source != target:
                self.do(COPYING, "cpy", source, target, [source], [target])

    def do(
        self,
        key: _Key,
        kind: str,
        source: Cell,
        target: Cell,
        reads: Iterable[Cell] = (),
        writes: Iterable[Cell] = (),
    ) -> None:
        """Add a step to a thread block, behind all that wrote what it reads, or used what it
        overwrites.
        """
        block = self.blocks.setdefault(key, [])
        step = _Step(key, len(block), kind, source, target, [])
        last: dict[_Key, _Step] = {}
        earlier = [self.writers.get(cell) for cell in (*reads, *writes)]
        for other in (*earlier, *(each for cell in writes for each in self.readers[cell])):
            if other is None or other.block == key:
                continue
            if other.place > self.awaited.get((key, other.block), -1):
                last[other.block] = max(other, last.get(other.block, other), key=_place)
        for other in last.values():
            self.awaited[key, other.block] = other.place
            other.awaited = True
        step.waits.extend(last.values())
        for cell in reads:
            self.readers[cell].append(step)
        for cell in writes:
            self.writers[cell], self.readers[cell] = step, []
        block.append(step)


def _gpus(problem: Reduction) -> list[_Gpu]:
    order = in_buffers(problem)
    before, after, _ = problem.statement

    def cells(buffer: str, table: Bools) -> list[dict[int, Cell]]:
        return [
            {segment: Cell(buffer, offset) for offset, segment in enumerate(segments.tolist())}
            for segments in held(order, table)
        ]

    return [
        _Gpu(inputs, outputs, dict(inputs))
        for inputs, outputs in zip(cells(INPUT, before), cells(OUTPUT, after), strict=True)
    ]


def _text(problem: Reduction, gpus: list[_Gpu]) -> str:
    channels = 1 + max((key.channel for gpu in gpus for key in gpu.blocks), default=0)
    chunks = max(max(len(gpu.inputs), len(gpu.outputs)) for gpu in gpus)
    root = _element(
        None, "algo", name="makespan", proto="Simple", nchannels=channels, nchunksperloop=chunks,
        ngpus=len(gpus), coll=NAMES[problem.collective], inplace=0, outofplace=1, minBytes=0,
        maxBytes=MOST_BYTES,
    )  # fmt: skip
    for number, gpu in enumerate(gpus):
        _add_gpu(root, number, gpu)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_gpu(root: ElementTree.Element, number: int, gpu: _Gpu) -> None:
    element = _element(
        root, "gpu", id=number, i_chunks=len(gpu.inputs), o_chunks=len(gpu.outputs),
        s_chunks=len(gpu.scratch),
    )  # fmt: skip
    names = {key: name for name, key in enumerate(sorted(gpu.blocks))}
    lengths = [_numbered(gpu.blocks[key]) for key in names]
    nodes = 1 + len(names) + sum(lengths)
    for many, most, what in (
        (max(lengths, default=0), MOST_STEPS, "steps in a thread block"),
        (len(names), MOST_BLOCKS, "thread blocks"),
        (nodes + len(root), MOST_NODES, "elements in its file"),
    ):
        if many > most:
            raise ProblemError(f"segments: GPU {number} needs {many} {what}; runtimes take {most}")
    for key, name in names.items():
        peers = {"send": key.send, "recv": key.receive, "chan": key.channel}
        block = _element(element, "tb", id=name, **peers)
        for step in gpu.blocks[key]:
            first = step.number - max(0, len(step.waits) - 1)
            nothing = "nop", Cell(INPUT, -1), Cell(OUTPUT, -1), 0
            own = step.kind, step.source, step.target, 1
            rows = [*[nothing] * (step.number - first), own]
            for place, (kind, source, target, count) in enumerate(rows):
                waits = {"depid": -1, "deps": -1}
                if step.waits:
                    other = step.waits[place]
                    waits = {"depid": names[other.block], "deps": other.number}
                awaited = int(step.awaited and place == step.number - first)
                _element(
                    block, "step", s=first + place, type=kind, srcbuf=source.buffer,
                    srcoff=source.offset, dstbuf=target.buffer, dstoff=target.offset, cnt=count,
                    **waits, hasdep=awaited,
                )  # fmt: skip


def _numbered(block: list[_Step]) -> int:
    """Number the steps of a thread block, leaving room to wait; return how many there are."""
    count = 0
    for step in block:
        count += max(1, len(step.waits))
        step.number = count - 1
    return count


def _element(
    parent: ElementTree.Element | None, tag: str, **attributes: object
) -> ElementTree.Element:
    texts = {name: str(value) for name, value in attributes.items()}
    if parent is None:
        return ElementTree.Element(tag, texts)
    return ElementTree.SubElement(parent, tag, texts)
