"""The colours of roles: told apart by colour-blind people, and in grey print by their lightness.

Source: the palette of Okabe and Ito 2008.
"""

from __future__ import annotations

from makespan.core.picture import Role

FILL = {
    Role.SEND: "#0072B2",
    Role.RECEIVE: "#56B4E9",
    Role.RETURN: "#D55E00",
    Role.COMPUTE: "#F0E442",
    Role.REDUCE: "#CC79A7",
}
WORD = {
    Role.SEND: "send",
    Role.RECEIVE: "receive",
    Role.RETURN: "return",
    Role.COMPUTE: "compute",
    Role.REDUCE: "reduce",
}
IDLE = "#ECECEC"
INK = "#1A1A1A"
FAINT_INK = "#666666"
GRID = "#CFCFCF"
LIMIT = "#7A1FA2"
PAPER = "#FFFFFF"
DARK_BELOW = 57.0

LIGHT = {
    "paper": PAPER,
    "panel": "#F6F7F9",
    "ink": INK,
    "faint": FAINT_INK,
    "grid": GRID,
    "idle": IDLE,
    "limit": LIMIT,
    "accent": "#0B5CAD",
}
DARK = {
    "paper": "#14171C",
    "panel": "#1C2129",
    "ink": "#E8EAED",
    "faint": "#9AA3AF",
    "grid": "#39414D",
    "idle": "#262C36",
    "limit": "#D9A5F2",
    "accent": "#6FB1F5",
}
"""The colours of a page, by day and by night; bars have the same on both."""


def lightness(colour: str) -> float:
    """Return the lightness of a colour, from 0 (black) to 100 (white): L* of CIE 1976.

    >>> round(lightness("#ffffff")), round(lightness("#000000"))
    (100, 0)
    """
    parts = [int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    if luminance > 216.0 / 24389.0:
        return float(116.0 * luminance ** (1.0 / 3.0) - 16.0)
    return float(luminance * 24389.0 / 27.0)


def ink_on(role: Role) -> str:
    """Return the colour of text on a bar of ``role``."""
    return PAPER if lightness(FILL[role]) < DARK_BELOW else INK
