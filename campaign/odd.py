"""Values that a reader may not expect: numbers at the edges, names in any script, wrong types."""

from __future__ import annotations

import copy
import datetime
import math
import random
from typing import Any

TYPES: tuple[Any, ...] = (
    *(None, True, False, "", "x", "1", "inf", "nan", "auto", "choose", [], {}, [[]], [{}], {"": 0}),
    *([None], [1], ["a"], [1, "a"], {"fixed": 1}, {"per_unit": "x"}, datetime.date(2020, 2, 29)),
    *(datetime.time(1, 2), datetime.datetime(1979, 5, 27, 7, 32)),
)
NUMBERS: tuple[Any, ...] = (
    *(0, 1, 2, 3, -1, 0.0, -0.0, 0.5, 1.5, 1e-9, 1e9, 7, 10, 63, 64, 100, 2**31, 2**31 - 1),
    *(2**53, 2**53 + 1, 2**63, 2**63 - 1, -(2**63), 2**64, 10**9, 10**18, 10**30),
    *(1e15, 1e99, 1e100, 1.0000001e100, 1e101, 1e200, 1e300, 1e308, 1.7976931348623157e308),
    *(1e-99, 1e-100, 9.99e-101, 1e-150, 1e-300, 2.2250738585072014e-308, 5e-324, 1e-320),
    *(math.inf, -math.inf, math.nan, 1 / 3, 0.1, 1 - 2**-53, 1 + 2**-52),
)
NAMES = (
    *("", " ", "a b", "P0", "P1", "M1", "T1", "R1", "master", "\u00e4\u00f6\u00fc", "\u6f22\u5b57"),
    *("\u05e9\u05dc\u05d5\u05dd", "\u202e\u0430bc", "\u2066x\u2069", "e\u0301", "\u200b", "\ufeff"),
    *("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\nb", "a\rb", "a\tb", "\x00", "\x7f", "\x9b31m"),
    *("<b>&\"'</b>", "</script><script>alert(1)</script>", "<!--", "]]>", "&amp;", "\\", '"', "'"),
    *("=1+1", "+1", "-1", "@x", "=cmd|' /C calc'!A0", "$x$", "%s", "{0}", "../../etc/passwd"),
    *(
        "\U0001f600",
        "\U0001d400",
        "\ufffd",
        "\ufffe",
        "a" * 300,
        "null",
        "true",
        "1e5",
        "__proto__",
    ),
)
GENTLE: tuple[float, ...] = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 0.1, 10.0, 1 / 3, 1e-6, 1e6, 4.0, 5.0)


def number(rng: random.Random) -> Any:
    """Return a number, often an odd one."""
    pick = rng.random()
    if pick < 0.75:
        return rng.choice(NUMBERS)
    if pick < 0.76:
        return 10 ** rng.choice((400, 4299, 4301, 5000))
    if pick < 0.88:
        return rng.choice((-1, 1)) * 10.0 ** rng.uniform(-330, 308)
    return rng.randint(-3, 40)


def gentle(rng: random.Random, value: Any) -> Any:
    """Return another number of the same sort, one that is mostly allowed where it stands."""
    if isinstance(value, int):
        return max(0, value + rng.choice((-2, -1, 1, 1, 2, 3)))
    if rng.random() < 0.3:
        return value * 2.0 ** rng.randint(-4, 4)
    return rng.choice(GENTLE)


def name(rng: random.Random) -> str:
    """Return a name, often of a strange script or with characters that have a meaning."""
    if rng.random() < 0.8:
        return rng.choice(NAMES)
    ranges = ((0x20, 0x7E), (0x00, 0x1F), (0x80, 0x24F), (0x590, 0x6FF), (0x2000, 0x206F))
    low, high = rng.choice((*ranges, (0x4E00, 0x4E80), (0x1F300, 0x1F6FF), (0xE000, 0xE010)))
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 8)))


def value(rng: random.Random) -> Any:
    """Return anything at all."""
    pick = rng.random()
    if pick < 0.5:
        return number(rng)
    if pick < 0.75:
        return copy.deepcopy(rng.choice(TYPES))  # which is then changed
    if pick < 0.9:
        return name(rng)
    return deep(rng)


def deep(rng: random.Random) -> Any:
    """Return lists and tables in one another."""
    inner: Any = rng.choice((0, "x", [], {}))
    for _ in range(rng.choice((1, 2, 3, 10, 62, 63, 64, 65, 66, 200))):
        inner = [inner] if rng.random() < 0.5 else {rng.choice(("a", "fixed", "x")): inner}
    return inner
