"""Colours can be told apart."""

from itertools import combinations

import numpy as np
import pytest

from makespan.core.picture import Role
from makespan.drawing.colours import FILL, IDLE, INK, PAPER, WORD, ink_on, lightness

OKABE_ITO = {
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7",
}  # fmt: skip

# Machado, Oliveira and Fernandes 2009, full severity, on linear RGB.
BLINDNESS = {
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def encoded(parts):
    parts = np.clip(parts, 0, 1)
    return np.where(parts <= 0.0031308, 12.92 * parts, 1.055 * parts ** (1 / 2.4) - 0.055)


def test_every_role_has_a_colour_of_the_palette():
    """Roles use the palette of Okabe and Ito, each a colour and a word of its own."""
    assert set(FILL) == set(WORD) == set(Role)
    assert set(FILL.values()) <= OKABE_ITO
    assert len(set(FILL.values())) == len(Role)


def test_roles_differ_in_lightness():
    """In grey print no two roles look the same."""
    for one, other in combinations(Role, 2):
        assert abs(lightness(FILL[one]) - lightness(FILL[other])) >= 5.0


@pytest.mark.parametrize("kind", BLINDNESS)
def test_roles_differ_for_colour_blind_people(kind):
    """Seen with each kind of colour blindness, two roles still differ clearly."""
    matrix = np.array(BLINDNESS[kind])
    seen = {role: encoded(matrix @ linear(FILL[role])) for role in Role}
    for one, other in combinations(Role, 2):
        assert np.abs(seen[one] - seen[other]).max() >= 0.12


def test_idle_time_is_lighter_than_any_bar():
    """Idle lanes are lighter than bars and darker than paper."""
    assert max(lightness(FILL[role]) for role in Role) < lightness(IDLE) < lightness(PAPER)


def test_texts_on_bars_have_contrast():
    """Texts differ from their bar by at least 40 in lightness."""
    for role in Role:
        assert abs(lightness(ink_on(FILL[role])) - lightness(FILL[role])) >= 40.0
    assert ink_on(FILL[Role.COMPUTE]) == INK
