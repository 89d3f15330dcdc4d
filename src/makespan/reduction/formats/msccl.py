"""A programme, executed with sets of parts in place of data: its sends, in order."""

from collections import defaultdict, deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from makespan.core.errors import FileError
from makespan.core.inputs.documents import root_of
from makespan.core.schedule import Schedule
from makespan.reduction.formats.msccl_reading import (
    COMBINING,
    DEALT,
    INPUT,
    OUTPUT,
    RECEIVING,
    SENDING,
    Block,
    Cell,
    Programme,
    Step,
    held,
    in_buffers,
    problem_in,
    programme_in,
)
from makespan.reduction.formats.msccl_writing import write
from makespan.reduction.problem import Reduction, segment_name
from makespan.reduction.sends import Sends, claim_sends
from makespan.reduction.timing import in_order

__all__ = ["read", "write"]
SHOWN = 5


def read(text: str, problem: Reduction | None = None) -> tuple[Reduction, Schedule]:
    """Return the problem and the plan of a file, which says no times.

    Every step is executed as soon as it can be, every transfer as soon as both ports are free: in
    that order machines send. Without ``problem`` a transfer takes 1 second, and all else no time.
    Raises FileError if it is not MSCCL, is that of another problem, can't be executed to its end,
    does not do what its collective says, or gives parts away more than once. Complexity: O(s log s)
    for s steps.
    """
    root = root_of(text, "algo", "MSCCL")
    stated = problem_in(root, problem)
    claim_sends(stated)
    in_place = root.get("inplace", "0") != "0" and root.get("outofplace", "0") == "0"
    run = _Run(stated, programme_in(root, stated), in_place)
    run.to_the_end()
    schedule = in_order(stated, run.found(), np.array(run.arrivals, dtype=np.int64))
    if schedule is None:
        raise FileError("is not a plan: some sends wait for each other")
    return problem or stated, schedule


class _Part(NamedTuple):
    """What a chunk holds: a segment, and of which machines it is, a bit each."""

    segment: int
    machines: int


class _Message(NamedTuple):
    arrival: float
    parts: list[_Part]
    sends: range


class _Run:
    """The state of all GPUs while they execute a programme."""

    def __init__(self, problem: Reduction, programme: Programme, in_place: bool) -> None:
        self.problem, self.programme, self.in_place = problem, programme, in_place
        order, (before, after, self.combining) = in_buffers(problem), problem.statement
        self.inputs, self.outputs = held(order, before), held(order, after)
        self.whole = [sum(1 << int(one) for one in np.flatnonzero(row)) for row in before.T]
        self.cells: dict[tuple[int, Cell], _Part] = {}
        self.ended: dict[tuple[int, int], list[float]] = defaultdict(list)
        self.mail: dict[tuple[int, int, int], deque[_Message]] = defaultdict(deque)
        self.until: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
        self.ports = [[0.0, 0.0] for _ in programme]
        self.ready: list[tuple[float, int, int]] = []
        self.given: set[tuple[int, int]] = set()
        self.sends: list[tuple[int, int, int, bool]] = []
        self.arrivals: list[int] = []

    def found(self) -> Sends:
        """Return the sends in the order in which they were made."""
        columns = np.array(self.sends, dtype=np.int64).reshape(-1, 4)
        final = columns[:, 3] > 0
        if self.problem.statement.one_way:
            final = np.full(len(columns), not self.combining)
        sender, receiver, segment = columns[:, :3].T
        return Sends(sender=sender, receiver=receiver, segment=segment, final=final)

    def to_the_end(self) -> None:
        """Execute all steps.

        Raises FileError where that can't be done, or brings not what the collective says.
        """
        for gpu, blocks in enumerate(self.programme):
            for name in blocks:
                self._offer(gpu, name)
        while self.ready:
            time, gpu, name = heappop(self.ready)
            block = self.programme[gpu][name]
            step = block.steps[len(self.ended[gpu, name])]
            if step.kind in SENDING:
                latency = float(self.problem.latencies[gpu, block.send])
                start = max(time, self.ports[gpu][0], self.ports[block.send][1] - latency)
                if start > time:
                    heappush(self.ready, (start, gpu, name))
                    continue
            self._do(time, gpu, name, block, step)
        self._refuse_what_is_left()
        for gpu, segments in enumerate(self.outputs):
            for offset, segment in enumerate(segments.tolist()):
                found = self.cells.get((gpu, self._real(gpu, Cell(OUTPUT, offset))))
                if self.in_place and found is None:
                    found = self._input(gpu, self._real(gpu, Cell(OUTPUT, offset)))
                if found != (segment, self.whole[segment]):
                    due = f"all of {segment_name(segment)} is due"
                    holds = f"holds {self._said(found)} in the end; {due}"
                    raise FileError(f"GPU {gpu}, chunk {offset} of its output: {holds}")

    def _offer(self, gpu: int, name: int) -> None:
        """Make the next step of a thread block ready, or let it wait for what it needs."""
        block, ended = self.programme[gpu][name], self.ended[gpu, name]
        if len(ended) == len(block.steps):
            return
        step, time = block.steps[len(ended)], ended[-1] if ended else 0.0
        if step.waits is not None:
            other, number = step.waits
            if len(self.ended[gpu, other]) <= number:
                self.until[gpu, other, number, -1].append((gpu, name))
                return
            time = max(time, self.ended[gpu, other][number])
        if step.kind in RECEIVING:
            channel = block.receive, gpu, block.channel
            if not self.mail[channel]:
                self.until[channel].append((gpu, name))
                return
            time = max(time, self.mail[channel][0].arrival)
        if step.kind in (*COMBINING, "re"):
            time += float(self.problem.reduces[gpu]) * step.chunks
        heappush(self.ready, (time, gpu, name))

    def _do(self, time: float, gpu: int, name: int, block: Block, step: Step) -> None:
        place = f"GPU {gpu}, tb {name}, step {len(self.ended[gpu, name])}"
        parts = self._parts(place, gpu, block, step)
        if step.kind in SENDING:
            latency = float(self.problem.latencies[gpu, block.send])
            end = time + float(self.problem.transfers[gpu, block.send]) * step.chunks
            for part in parts:
                self._send(place, gpu, block.send, part)
            channel, made = (gpu, block.send, block.channel), len(self.sends)
            self.mail[channel].append(
                _Message(end + latency, parts, range(made - len(parts), made))
            )
            self.ports[gpu][0], self.ports[block.send][1] = end, end + latency
            time = end
            self._wake(channel)
        self.ended[gpu, name].append(time)
        self._wake((gpu, name, len(self.ended[gpu, name]) - 1, -1))
        self._offer(gpu, name)

    def _wake(self, what: tuple[int, ...]) -> None:
        for gpu, name in self.until.pop(what, ()):
            self._offer(gpu, name)

    def _parts(self, place: str, gpu: int, block: Block, step: Step) -> list[_Part]:
        """Return the parts that a step handles, put where it puts them."""
        parts: list[_Part] = []
        if step.kind in RECEIVING:
            _, parts, sends = self.mail[block.receive, gpu, block.channel].popleft()
            self.arrivals.extend(sends)
            if len(parts) != step.chunks:
                raise FileError(f"{place}: takes {step.chunks} chunks; {len(parts)} were sent")
        elif step.kind != "nop":
            parts = list(self._chunks(place, gpu, step.source, step.chunks))
        if step.kind in (*COMBINING, "re"):
            own = step.target if step.kind == "re" else step.source
            mine = list(self._chunks(place, gpu, own, step.chunks))
            parts = [self._both(place, *pair) for pair in zip(mine, parts, strict=True)]
        if step.kind not in ("s", "rrs", "nop"):
            for index, part in enumerate(parts):
                cell = Cell(step.target.buffer, step.target.offset + index)
                self.cells[gpu, self._real(gpu, cell)] = part
        return parts

    def _chunks(self, place: str, gpu: int, cell: Cell, count: int) -> Iterator[_Part]:
        for offset in range(cell.offset, cell.offset + count):
            real = self._real(gpu, Cell(cell.buffer, offset))
            found = self.cells.get((gpu, real)) or self._input(gpu, real)
            if found is None:
                raise FileError(f"{place}: chunk {offset} of buffer {cell.buffer} holds nothing")
            yield found

    def _input(self, gpu: int, cell: Cell) -> _Part | None:
        """Return what a chunk of the input holds at first."""
        if cell.buffer != INPUT or cell.offset >= len(self.inputs[gpu]):
            return None
        segment = int(self.inputs[gpu][cell.offset])
        return _Part(segment, 1 << gpu if self.combining else self.whole[segment])

    def _real(self, gpu: int, cell: Cell) -> Cell:
        """Return the chunk of the input that a chunk of the output is, in place."""
        if cell.buffer != OUTPUT or not self.in_place:
            return cell
        if self.problem.collective not in DEALT or self.problem.collective == "all-to-all":
            return Cell(INPUT, cell.offset)
        outputs, inputs = self.outputs[gpu], self.inputs[gpu]
        if cell.offset >= len(outputs):
            return cell
        same = np.flatnonzero(inputs == outputs[cell.offset])
        return Cell(INPUT, int(same[0])) if len(same) else cell

    def _both(self, place: str, one: _Part, other: _Part) -> _Part:
        if one.segment != other.segment or one.machines & other.machines:
            raise FileError(f"{place}: combines {self._said(one)} with {self._said(other)}")
        return _Part(one.segment, one.machines | other.machines)

    def _send(self, place: str, gpu: int, peer: int, part: _Part) -> None:
        final = part.machines == self.whole[part.segment]
        if not final:
            for one, what in ((gpu, "gives away"), (peer, "gets")):
                if (one, part.segment) in self.given:
                    raise FileError(
                        f"{place}: GPU {one} {what} {self._said(part)} after it gave its part away;"
                        " in a plan every machine gives its part of a segment away once"
                    )
            self.given.add((gpu, part.segment))
        self.sends.append((gpu, peer, part.segment, final))

    def _said(self, part: _Part | None) -> str:
        if part is None:
            return "nothing"
        name, count = segment_name(part.segment), self.whole[part.segment].bit_count()
        if part.machines == self.whole[part.segment]:
            return f"all of {name}"
        return f"{part.machines.bit_count()} of {count} parts of {name}"

    def _refuse_what_is_left(self) -> None:
        stuck = [
            f"GPU {gpu}, tb {name}, step {len(self.ended[gpu, name])} waits for "
            + (f"GPU {key[0]}" if key[-1] >= 0 else f"tb {key[1]}, step {key[2]}")
            for key, those in self.until.items()
            for gpu, name in those
        ]
        if stuck:
            more = f", and {len(stuck) - SHOWN} more" if len(stuck) > SHOWN else ""
            raise FileError(f"can't be executed to its end: {', '.join(stuck[:SHOWN])}{more}")
        for (gpu, peer, _), messages in self.mail.items():
            if messages:
                raise FileError(f"GPU {gpu} sends more to GPU {peer} than that takes")
