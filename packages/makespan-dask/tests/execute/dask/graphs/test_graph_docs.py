"""The page of the docs does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources import ROOT

PAGE = ROOT / "docs" / "dask_graphs.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_page_has_programs() -> None:
    """Two of them."""
    assert len(PROGRAMS) == 2


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_of_the_page_run(number: int, tmp_path: Path) -> None:
    """As they stand there, each with a cluster of its own."""
    (tmp_path / "page.py").write_text(PROGRAMS[number])
    found = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    told = re.findall(r"print\(execution\.results\) +# (.+)", PROGRAMS[number])
    assert found.stdout.splitlines()[: len(told)] == told
    assert told or (tmp_path / "run.html").exists()
