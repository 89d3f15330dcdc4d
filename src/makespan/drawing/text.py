"""Text in pictures: its width, how it is shortened, how numbers are written, ticks of axes."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

LONGEST_NOTE = 90
NARROW = frozenset("iIjl.,:;'|!()[]ftr- ")
WIDE = frozenset("mwMW@%")


def text_width(text: str, size: float) -> float:
    """Return about how wide ``text`` is in a common sans-serif font of ``size``; rather more.

    >>> text_width("P1", 10.0) < text_width("P10", 10.0) < text_width("P1000", 10.0)
    True
    """
    return size * sum(_em(character) for character in text)


def _em(character: str) -> float:
    if character in NARROW:
        return 0.38
    if character in WIDE:
        return 0.95
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return 1.05
    return 0.72 if character.isupper() else 0.6


def elided(text: str, size: float, width: float) -> str:
    """Return ``text``, or as much of its beginning and end as fits with ``…`` between.

    Names that differ often differ at the end, so both ends are kept. Line breaks become spaces.

    >>> elided("gpu-node-0000000000000000017", 10.0, 80.0)
    'gpu-no…000017'
    """
    text = " ".join(text.split())
    if len(text) > 400:
        text = f"{text[:200]}…{text[-200:]}"
    if text_width(text, size) <= width:
        return text
    head, tail, room = 0, 0, width - text_width("…", size)
    while head + tail < len(text):
        front = head <= tail
        character = text[head] if front else text[-1 - tail]
        room -= text_width(character, size)
        if room < 0:
            break
        head, tail = head + front, tail + (not front)
    return f"{text[:head]}…{text[len(text) - tail :]}"


def elided_apart(texts: Sequence[str], size: float, width: float) -> list[str]:
    """Return texts, shortened where they must be, and so that those that differ still do.

    >>> elided_apart([f"gpu-node-{i}.cluster.example.org" for i in (1, 2)], 10.0, 100.0)
    ['gpu-node-1.clust…', 'gpu-node-2.clust…']
    """
    texts = [
        each if text_width(text, size) > width else text
        for text, each in zip(texts, without_hashes(texts), strict=True)
    ]
    found = [elided(text, size, width) for text in texts]
    alike: dict[str, set[str]] = {}
    for text, shown in zip(texts, found, strict=True):
        alike.setdefault(shown, set()).add(text)
    for index, text in enumerate(texts):
        same = alike[found[index]]
        if len(same) == 1:
            continue
        first = _alike(same)
        last = max(map(len, same)) - _alike({each[::-1] for each in same})
        rooms = range(len(text), 0, -1)
        room = next((n for n in rooms if text_width(text[:n], size) < width * 0.9), 1)
        begin = 0 if last <= room else min(first, max(0, last - room))
        found[index] = f"{'…' * (begin > 0)}{text[begin : begin + room]}…"
    return found


TOKEN = re.compile(r"-([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})(?![0-9a-f])")
"""A hash in the key of a task of Dask, or the UUID in that of a delayed call."""
KEPT = (0, 2, 4, 8, 36)  # characters of a hash, as few as tell names apart


def without_hashes(texts: Sequence[str]) -> list[str]:
    """Return texts without hashes; where only these differ, with as much of them as differs.

    >>> hashes = ["3f2a" * 8, "3f7b" * 8]
    >>> without_hashes([f"sum-{hashes[0]}[0,1]", *(f"add-{each}" for each in hashes)])
    ['sum[0,1]', 'add-3f2a…', 'add-3f7b…']
    """

    def cut(text: str, kept: int) -> str:
        return TOKEN.sub(lambda found: f"-{found[1][:kept]}…" if kept else "", text)

    alike: dict[str, set[str]] = {}
    for text in texts:
        alike.setdefault(cut(text, 0), set()).add(text)
    enough = {
        bare: next(kept for kept in KEPT if len({cut(each, kept) for each in same}) == len(same))
        for bare, same in alike.items()
    }
    return [cut(text, enough[cut(text, 0)]) for text in texts]


def _alike(texts: set[str]) -> int:
    """Return how many characters all texts begin with."""
    columns = enumerate(zip(*texts, strict=False))
    return next((at for at, found in columns if len(set(found)) > 1), min(map(len, texts)))


def short(value: float, digits: int = 4) -> str:
    """Return a number with about ``digits`` significant digits, whole parts in full below 1e7.

    >>> short(10434.7826), short(0.5), short(2.0e-7), short(1234567.8), short(3.0e9)
    ('10435', '0.5', '2e-7', '1234568', '3e9')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 1e-3 <= abs(value) < 1e7:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def brief(value: float) -> str:
    """Return a number in about five characters.

    >>> brief(8526566.0), brief(17.987), brief(99999.0), brief(340.0)
    ('8.5e6', '18', '99999', '340')
    """
    if abs(value) < 1e5:
        return short(value, 3)
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def percent(fraction: float) -> str:
    """Return a fraction in percent; what is not nothing is never shown as 0.

    >>> percent(0.125), percent(0.00001), percent(0.0)
    ('12.5 %', '< 0.1 %', '0 %')
    """
    if 0 < fraction < 0.001:
        return "< 0.1 %"
    return f"{short(round(100 * fraction, 1))} %"


def shortened(note: str) -> str:
    """Return a note as it stands in the table: in one line, of bounded length.

    >>> shortened("needs an order,   but it is not given")
    'needs an order, but it is not given'
    """
    text = " ".join(note.split())
    return text if len(text) <= LONGEST_NOTE else f"{text[: LONGEST_NOTE - 1]}…"


def in_rows(widths: Iterable[float], left: float, right: float) -> list[tuple[int, float]]:
    """Return the row and the place of entries so wide, from ``left`` on as far as ``right``.

    >>> in_rows([30.0, 50.0, 30.0], 10.0, 100.0)
    [(0, 10.0), (0, 40.0), (1, 10.0)]
    """
    found, row, x = [], 0, left
    for wide in widths:
        if x > left and x + wide > right:
            row, x = row + 1, left
        found.append((row, x))
        x += wide
    return found


STEPS = (1.0, 2.0, 5.0, 10.0)
MOST = 200


@dataclass(frozen=True, slots=True)
class Tick:
    """A number on the axis and how it is written."""

    time: float
    label: str


def ticks(end: float, wanted: float) -> tuple[Tick, ...]:
    """Return ticks from 0 to ``end`` at a step of 1, 2 or 5 times a power of ten.

    ``wanted`` is about how many there is room for; there are never more, except for two.

    >>> [tick.label for tick in ticks(28.0, 7)]
    ['0', '5', '10', '15', '20', '25']
    """
    if not (end > 0 and math.isfinite(end)):
        return (Tick(0.0, "0"),)
    raw = end / max(1.0, min(wanted, MOST))
    power = 10.0 ** math.floor(math.log10(raw))
    if power == 0.0:
        return (Tick(0.0, "0"),)
    step = next((power * step for step in STEPS if power * step >= raw * (1 - 1e-9)), power * 10)
    count = math.floor(end / step * (1 + 1e-9))
    return tuple(Tick(step * index, _written(step * index, step)) for index in range(count + 1))


UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def unit_of(end: float) -> tuple[str, float]:
    """Return the unit of an axis of time to ``end`` seconds, and how many of it are a second.

    >>> unit_of(28.0), unit_of(0.012), unit_of(3e-6)
    (('s', 1.0), ('ms', 1000.0), ('µs', 1000000.0))
    """
    return next((unit for unit in UNITS if not 0 < end * unit[1] < 0.1), UNITS[-1])


def decades(low: float, high: float) -> tuple[Tick, ...]:
    """Return powers of ten from ``low`` to ``high``, or 1, 2 and 5 times them where these are few.

    >>> [tick.label for tick in decades(0.004, 3.0)], [tick.label for tick in decades(1.0, 20.0)]
    (['0.01', '0.1', '1'], ['1', '2', '5', '10', '20'])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = STEPS[:1] if len(powers) > 4 else STEPS[:3]
    values = [step * 10.0**power for power in powers for step in steps]
    inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return tuple(Tick(value, short(value)) for value in inside)


def _written(value: float, step: float) -> str:
    if value == 0:
        return "0"
    if step >= 1e-3 and value < 1e7:
        return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
    digits = 1 + max(0, math.floor(math.log10(value / step) + 1e-9))
    return short(value, digits + 1)
