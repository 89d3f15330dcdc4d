"""Keys of Dask on charts: without their hashes; the whole on hovering."""

from __future__ import annotations

import random
import uuid

import pytest

from makespan import Dag, Network, TaskGraph, save, solve
from makespan.drawing.text import elided_apart, without_hashes
from tests.browser import Browser, chromium

HASHES = [uuid.UUID(int=random.Random(seed).getrandbits(128)) for seed in range(40)]


def test_names_that_differ_still_do() -> None:
    """Keys of collections and of delayed calls, and those of which only the hash differs."""
    names = [f"sum-aggregate-{HASHES[0].hex}[{place}]" for place in range(3)]
    assert without_hashes(names) == ["sum-aggregate[0]", "sum-aggregate[1]", "sum-aggregate[2]"]
    calls = [f"inc-{each}" for each in HASHES]
    shown = without_hashes([*names, *calls])[3:]
    assert len(set(shown)) == len(calls)
    assert all(each.startswith("inc-") and each.endswith("…") and len(each) < 12 for each in shown)
    plain = ["a-1", "train-deadbeef", "gpu-node-1", f"x{HASHES[0].hex}"]
    assert without_hashes(plain) == plain
    assert elided_apart(names, 10.0, 120.0) == without_hashes(names)
    assert elided_apart(names, 10.0, 900.0) == names


@pytest.fixture
def plan():
    works = {f"load-{HASHES[0].hex}[{place}]": 2.0 for place in range(4)}
    total = f"sum-aggregate-{HASHES[1].hex}"
    edges = [(name, total, 1.0) for name in works]
    return solve(TaskGraph(Dag({**works, total: 3.0}, edges), Network(2)))


def test_bars_of_a_picture(plan, tmp_path) -> None:
    """The tips have the whole names."""
    save(plan, tmp_path / "plan.svg")
    text = (tmp_path / "plan.svg").read_text("utf-8")
    wide = solve(TaskGraph(Dag({f"sum-{HASHES[2].hex}": 1.0}, []), Network(1)))
    save(wide, tmp_path / "wide.svg")
    assert ">sum</text>" in (tmp_path / "wide.svg").read_text("utf-8")
    whole = f"load-{HASHES[0].hex}[0]"
    assert f" {whole}," in text
    assert f"<title>{whole}</title>load[0]</text>" in text


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
def test_bars_of_a_page(plan, tmp_path) -> None:
    """As on a picture."""
    save(plan, tmp_path / "plan.html")
    with Browser() as browser:
        browser.open(tmp_path / "plan.html")
        name = f"load-{HASHES[0].hex}[0]"
        assert browser.value(f"makespan.plans[0].shorter[{name!r}]") == "load[0]"
        assert browser.value("makespan.plans[0].label(0)") == name
        assert not browser.errors
        browser.screenshot(tmp_path / "shot.png")
