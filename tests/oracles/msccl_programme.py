"""What a programme in MSCCL's XML does: its thread blocks, executed in a random order.

A GPU's thread blocks run beside each other, a block its steps one after another. A step begins when
the step that it waits for is over. Chunks hold how often the input of which GPU is counted in them.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import Any
from xml.etree import ElementTree


def meaning(collective: str, count: int, chunks: int) -> list[list[Any]]:
    """Return what NCCL defines to stand in the output of every GPU, the root being GPU 0."""
    every, share = range(count), chunks // count

    def one(gpu: int, chunk: int) -> Any:
        return Counter({(gpu, chunk): 1})

    def sums(chunk: int) -> Any:
        return sum((one(gpu, chunk) for gpu in every), Counter())

    if collective in ("reduce", "allreduce"):
        full = [sums(chunk) for chunk in range(chunks)]
        return [full if gpu == 0 or collective == "allreduce" else [] for gpu in every]
    if collective == "broadcast":
        return [[one(0, chunk) for chunk in range(chunks)] for _ in every]
    if collective in ("allgather", "gather"):
        full = [one(gpu, chunk) for gpu in every for chunk in range(share)]
        return [full if gpu == 0 or collective == "allgather" else [] for gpu in every]
    parts = [range(gpu * share, (gpu + 1) * share) for gpu in every]
    if collective == "reducescatter":
        return [[sums(chunk) for chunk in part] for part in parts]
    if collective == "scatter":
        return [[one(0, chunk) for chunk in part] for part in parts]
    assert collective == "alltoall"
    return [[one(other, chunk) for other in every for chunk in part] for part in parts]


def outcome(text: str, generator: random.Random, *, room: int) -> list[list[Any]]:
    """Return what stands in the output of every GPU in the end.

    A connection holds ``room`` messages that are not received yet; with 0 a send is over when it
    is received. What GPUs do at the same time is done in a random order.

    Raises AssertionError if it comes to no end, or reads what is not there.
    """
    root = ElementTree.fromstring(text)
    gpus = {int(gpu.attrib["id"]): gpu for gpu in root.iter("gpu")}
    buffers: dict[tuple[int, str], list[Any]] = {}
    blocks: dict[tuple[int, int], list[dict[str, str]]] = {}
    ends: dict[tuple[int, int], tuple[int, int, int]] = {}
    for gpu, element in gpus.items():
        for buffer in "ios":
            buffers[gpu, buffer] = [None] * int(element.attrib[f"{buffer}_chunks"])
        buffers[gpu, "i"] = [Counter({(gpu, k): 1}) for k in range(len(buffers[gpu, "i"]))]
        for block in element.iter("tb"):
            at = gpu, int(block.attrib["id"])
            blocks[at] = [step.attrib for step in block.iter("step")]
            assert [int(step["s"]) for step in blocks[at]] == list(range(len(blocks[at])))
            ends[at] = tuple(int(block.attrib[key]) for key in ("send", "recv", "chan"))
    receivers = {(ends[at][1], at[0], ends[at][2]): at for at in blocks if ends[at][1] >= 0}
    mail: dict[tuple[int, int, int], deque[list[Any]]] = {key: deque() for key in receivers}
    done = dict.fromkeys(blocks, 0)

    def chunks(gpu: int, step: dict[str, str], end: str) -> tuple[list[Any], slice]:
        first = int(step[f"{end}off"])
        return buffers[gpu, step[f"{end}buf"]], slice(first, first + int(step["cnt"]))

    def may(at: tuple[int, int], *, takes: bool) -> bool:
        if done[at] == len(blocks[at]):
            return False
        gpu, step = at[0], blocks[at][done[at]]
        send, receive, channel = ends[at]
        if int(step["depid"]) >= 0:
            other = gpu, int(step["depid"])
            assert blocks[other][int(step["deps"])]["hasdep"] == "1"
            if done[other] <= int(step["deps"]):
                return False
        if step["type"].startswith("rr") or step["type"] in ("r", "rcs"):
            if not takes and not mail[receive, gpu, channel]:
                return False
        elif takes:
            return False
        if step["type"] in ("s", "rcs", "rrs", "rrcs"):
            key = gpu, send, channel
            if room:
                return len(mail[key]) < room
            return may(receivers[key], takes=True)
        return True

    def do(at: tuple[int, int]) -> None:
        gpu, step = at[0], blocks[at][done[at]]
        send, receive, channel = ends[at]
        kind = step["type"]
        if kind != "nop":
            received = kind in ("r", "rcs", "rrs", "rrc", "rrcs")
            source, where = chunks(gpu, step, "src") if kind not in ("r", "rcs") else ([], slice(0))
            values = mail[receive, gpu, channel].popleft() if received else source[where]
            if kind == "re":
                target, place = chunks(gpu, step, "dst")
                values = [one + two for one, two in zip(values, target[place], strict=True)]
            elif kind in ("rrs", "rrc", "rrcs"):
                values = [one + two for one, two in zip(values, source[where], strict=True)]
            assert len(values) == int(step["cnt"])
            assert None not in values, f"{at} {step}: nothing is there"
            if kind not in ("s", "rrs"):
                target, place = chunks(gpu, step, "dst")
                assert place.stop <= len(target)
                target[place] = values
            if kind in ("s", "rcs", "rrs", "rrcs"):
                mail[gpu, send, channel].append(values)
                if not room:
                    done[at] += 1
                    do(receivers[gpu, send, channel])
                    return
        done[at] += 1

    while runnable := [at for at in blocks if may(at, takes=False)]:
        do(generator.choice(runnable))
    left = {at: steps[done[at]] for at, steps in blocks.items() if done[at] < len(steps)}
    assert not left, f"comes to no end: {left}"
    assert not any(mail.values())
    return [buffers[gpu, "o"] for gpu in sorted(gpus)]
