"""The colours of roles: told apart by colour-blind people, and in grey print by their lightness.

Source: the palette of Okabe and Ito 2008.
"""

import numpy as np

from makespan.core.picture import Groups, Role

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
ON_PAGE = {name: f"var(--{name})" for name in LIGHT}
"""The same colours by name, for drawings that stand in a page."""
DISTINCT = (
    "#F0E442", "#E69F00", "#3DB88F", "#CC79A7", "#C9CDD3", "#D55E00", "#F9F3AE", "#F7D599",
    "#B1E2D2", "#EBC9DC", "#8A8F98", "#EEBF99", "#56B4E9", "#BBE1F6", "#0072B2", "#99C7E0",
)  # fmt: skip
"""Colours of groups: those of Okabe and Ito, then paler ones; last the blues of transfers."""
BESIDE_STATES = (
    "#56B4E9", "#F0E442", "#3DB88F", "#CC79A7", "#C9CDD3", "#99C7E0", "#F7D599", "#B1E2D2",
    "#EBC9DC",
)  # fmt: skip
"""Those of them for clusters that grow step by step: none is that of a task's state."""
CURVES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A1FA2", "#8A8F98")
"""Colours of lines."""
RISING = ("#FFF7C9", "#F0E442", "#8FC95E", "#3DA5A0", "#2C6FA8", "#3B3B7A")
"""Colours of groups that have an order, from light to dark; others lie between them."""


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


def ink_on(fill: str) -> str:
    """Return the colour of text on a colour."""
    return PAPER if lightness(fill) < DARK_BELOW else INK


Paint = tuple[str, str]  # what a colour means, and the colour
MOST_WORDS = 14  # words of a legend; of more, the first, or of ordered ones some between, are shown


def paints(groups: Groups | None) -> list[Paint]:
    """Return the colours of the roles, then those of groups, with what they mean."""
    roles = [(WORD[role], FILL[role]) for role in Role]
    return roles if groups is None else [*roles, *zip(groups.names, fills(groups), strict=True)]


def legend_of(groups: Groups) -> list[Paint]:
    """Return the groups that occur with their colours, some of them where they are many."""
    colours = fills(groups)
    used = np.unique(groups.of[groups.of >= 0])
    if len(used) > MOST_WORDS:
        few = np.linspace(0, len(used) - 1, 5).round().astype(int)
        used = used[few] if groups.ordered else used[:MOST_WORDS]
    return [(groups.names[each], colours[each]) for each in used.tolist()]


def fills(groups: Groups) -> list[str]:
    """Return the colour of each group.

    >>> fills(Groups(np.arange(2), ("level 1", "level 2"), ordered=True))
    ['#FFF7C9', '#3B3B7A']
    """
    count = len(groups.names)
    if not groups.ordered:
        return [DISTINCT[index % len(DISTINCT)] for index in range(count)]
    steps = np.array([[int(c[at : at + 2], 16) for at in (1, 3, 5)] for c in RISING])
    places = np.linspace(0.0, len(RISING) - 1.0, count) if count > 1 else np.zeros(count)
    mixed = [np.interp(places, np.arange(len(RISING)), column) for column in steps.T]
    return [
        "#" + "".join(f"{round(part):02X}" for part in parts) for parts in zip(*mixed, strict=True)
    ]
