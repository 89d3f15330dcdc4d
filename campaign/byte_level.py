"""Byte-level inputs: files of every format with bytes changed, moved, cut and spliced."""

from __future__ import annotations

import random
from functools import cache

from campaign import corpus
from campaign.part import Part, Trial
from campaign.reading import read
from campaign.structure import judged

FORMATS = (".json",) * 4 + (".toml",) * 2 + (".dot",) * 2 + (".stg", ".csv", ".graphml")
TOKENS = (
    *(b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[31m", b"\r", b"\r\n", b"\n\n", b"\t"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b",", b";"),
    *(
        b"->",
        b"--",
        b"=",
        b":",
        b"/*",
        b"*/",
        b"//",
        b"#",
        b"<",
        b">",
        b"<!--",
        b"<!DOCTYPE x [",
        b"&",
    ),
    *(b"0", b"-1", b"1e309", b"1e-320", b"NaN", b"inf", b"Infinity", b"-0", b"0x10", b"1_0", b"1e"),
    *(
        b"9" * 400,
        b"9" * 5000,
        b"99999999999",
        b"4294967296",
        b"2147483648",
        b"1000000000",
        b"null",
    ),
    *(
        b"true",
        b"subgraph",
        b"node",
        b"edge",
        b"graph",
        b"digraph",
        b"strict",
        b"resource",
        b"count",
    ),
    *("é".encode(), "\u202e".encode(), "\U0001f600".encode(), b"\xc3", b"\xed\xa0\x80", b" " * 100),
    *(b"[" * 100, b"{" * 70, b"(" * 500, b'"' + b"x" * 3000 + b'"'),
)


def attempt(trial: Trial) -> None:
    """Read a changed file; plan and draw some of what is read."""
    name, content = trial.given or made(trial.random("make"))
    if b"samples" in content:
        (trial.folder / corpus.SAMPLES).write_bytes((corpus.FOLDER / corpus.SAMPLES).read_bytes())
    found = read(trial, trial.holds(name, content))
    trial.count("inputs")
    trial.count(f"{name.partition('.')[2]} inputs")
    judged(trial, found)


def made(rng: random.Random) -> tuple[str, bytes]:
    """Return the name and the content of a file."""
    suffix = rng.choice(FORMATS)
    content = rng.choice(_of_format(suffix))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5, 10))):
        content = changed(content, rng)
    if rng.random() < 0.02:
        suffix = rng.choice(corpus.TEXTS)
    return f"input{suffix}", content


@cache
def _of_format(suffix: str) -> list[bytes]:
    return [content for ending, content in corpus.texts() if ending == suffix]


def changed(content: bytes, rng: random.Random) -> bytes:
    """Return a text with one change."""
    length = len(content)
    at, end = sorted((rng.randint(0, length), rng.randint(0, length)))
    end = min(end, at + rng.choice((1, 1, 2, 4, 8, 30, 300)))
    pick = rng.randrange(11)
    if pick == 0 and length:  # a bit
        at = rng.randrange(length)
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if pick == 1:  # any byte
        return content[:at] + rng.randbytes(1) + content[at + 1 :]
    if pick == 2:
        return content[:at] + content[end:]
    if pick == 3:  # repeated
        return content[:end] + content[at:end] * rng.choice((1, 1, 2, 20)) + content[end:]
    if pick == 4 and rng.random() < 0.3:
        return content[:at]
    if pick == 5:  # from elsewhere in it
        other = rng.randint(0, length)
        return content[:other] + content[at:end] + content[other:]
    if pick == 6:  # from another file
        donor = rng.choice(corpus.texts())[1]
        other = rng.randint(0, len(donor))
        return content[:at] + donor[other : other + rng.choice((3, 20, 200))] + content[end:]
    if pick == 7:
        return _digit_changed(content, rng)
    if pick == 8 and rng.random() < 0.05:
        return content.decode("utf-8", "replace").encode(
            rng.choice(("utf-16", "latin-1")), "replace"
        )
    return content[:at] + rng.choice(TOKENS) + content[rng.choice((at, end)) :]


def _digit_changed(content: bytes, rng: random.Random) -> bytes:
    """Return a text with a digit exchanged, which mostly leaves it readable."""
    digits = [index for index, byte in enumerate(content) if 48 <= byte <= 57]
    if not digits:
        return content
    at = rng.choice(digits)
    new = rng.choice((b"0", b"1", b"2", b"9", b"-", b".", b"00", b"1e3", b"e9"))
    return content[:at] + new + content[at + 1 :]


PART = Part(
    name="bytes",
    promise="A file with any bytes changed, in TOML, JSON, WfFormat, STG, DOT, GraphML and CSV, "
    "problems as well as plans, is read or refused, as above.",
    attempt=attempt,
    goals={"inputs": 1_000_000},
    share=1.5,
    prepare=corpus.texts,
)
