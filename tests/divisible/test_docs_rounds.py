"""The page about many rounds."""

import doctest
import re
from pathlib import Path

from makespan import methods

PAGE = Path(__file__).parents[2] / "docs" / "divisible_rounds.md"


def test_the_examples_are_true():
    """What the page shows is what happens."""
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0


def test_the_methods_exist():
    """Every method in the table is registered, and said to prove something only where it does."""
    known = {verdict.name: verdict.method for verdict in methods("divisible")}
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:3] == "| `"]
    assert len(rows) >= 12
    for row in rows:
        names, purpose, proves = (cell.strip() for cell in row.strip("|").split("|"))
        for name in re.findall(r"`([a-z-]+)`", names):
            assert name in known
            assert known[name].published == purpose.startswith("published")
            assert (known[name].proves is None) == proves.startswith("no")


def test_the_pictures_exist():
    """Every picture of the page is in the repository."""
    pictures = re.findall(r"\]\((images/[^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == 3
    assert all((PAGE.parent / picture).exists() for picture in pictures)
