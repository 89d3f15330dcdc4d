"""Texts, numbers and ticks."""

import itertools

import pytest
from hypothesis import given, strategies as st

from makespan.drawing.text import elided, percent, short, text_width, ticks


@given(st.text(max_size=60), st.floats(30.0, 200.0))
def test_elided_text_fits(text, width):
    """What is too long is shortened until it fits."""
    assert text_width(elided(text, 10.0, width), 10.0) <= width + 1e-9


def test_elided_names_keep_both_ends():
    """Names that differ at the end only still differ."""
    one, other = (elided(f"rack-17-machine-{k:05d}", 10.0, 90.0) for k in (1, 2))
    assert one != other
    assert one.startswith("rack")


def test_elided_text_is_one_line():
    """Line breaks in names don't break the picture."""
    assert elided("a\nb\tc", 10.0, 100.0) == "a b c"


@given(st.floats(-1e12, 1e12, allow_subnormal=False))
def test_short_numbers_are_close(value):
    """A short number differs from the number by less than its fourth digit."""
    assert float(short(value)) == pytest.approx(value, rel=6e-4)


def test_percent_never_hides_a_gap():
    """A tiny gap is not shown as none."""
    assert (percent(0.0), percent(1e-7), percent(0.0354)) == ("0 %", "< 0.1 %", "3.5 %")


@given(st.floats(1e-12, 1e12), st.integers(1, 15))
def test_ticks_are_few_even_and_within(end, wanted):
    """Ticks start at 0, keep one step, stay inside, and are not more than there is room for."""
    times = [tick.time for tick in ticks(end, wanted)]
    assert times[0] == 0.0
    assert times[-1] <= end * (1 + 1e-9)
    assert len(times) <= wanted + 2
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert steps == pytest.approx(steps[:1] * len(steps))


@given(st.floats(1e-12, 1e12), st.integers(2, 15))
def test_tick_labels_say_their_times(end, wanted):
    """Each label reads as its time, and no two are the same."""
    found = ticks(end, wanted)
    assert len({tick.label for tick in found}) == len(found)
    for tick in found:
        assert float(tick.label) == pytest.approx(tick.time, rel=1e-9, abs=1e-300)


def test_no_time_has_one_tick():
    """An axis without length has its 0."""
    assert [tick.label for tick in ticks(0.0, 5)] == ["0"]
