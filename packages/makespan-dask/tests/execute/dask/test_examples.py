"""The examples of what runs on Dask: as they stand in docstrings, on a cluster in this process."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest

from makespan.execute import dask

SKIPPED = "# doctest: +SKIP"  # where there is no cluster


@pytest.mark.parametrize("name", dask.__all__)
def test_the_example_runs(
    name: str, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints what stands there; ``client`` is what a reader has."""
    (tmp_path / "pages").mkdir()
    for page, text in (("a.txt", "twelve bytes"), ("b.txt", "a seven")):
        (tmp_path / "pages" / page).write_text(text)
    monkeypatch.chdir(tmp_path)
    text = (getattr(dask, name).__doc__ or "").replace(SKIPPED, "")
    test = doctest.DocTestParser().get_doctest(text, {"client": client}, name, None, None)
    assert test.examples
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)
