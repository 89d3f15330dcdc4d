"""The stories of the docs: every command on their pages runs, and prints what stands there.

``python -m tests.test_stories`` writes the outputs anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "stories").glob("*.md"))
STEP = re.compile(r"```sh\n(?P<command>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?", re.DOTALL)
PROGRAM = re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)```", re.DOTALL)
SECONDS = re.compile(r"\b\d[\d.]*(e-?\d+)? (ms|s|µs)\b")
LONGEST = 120.0  # seconds of a command


def printed(command: str, folder: Path) -> str:
    """Run shell commands with the package's own interpreter first; return what they print."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    return done.stdout


def told(page: Path, folder: Path) -> str:
    """Return the page with what its commands print now."""
    (folder / "examples").symlink_to(ROOT / "examples")
    for name, program in PROGRAM.findall(page.read_text("utf-8")):
        (folder / name).write_text(program, "utf-8")

    def again(step: re.Match[str]) -> str:
        output = printed(step["command"], folder)
        if step["output"] is None:
            assert not output, output
            return step[0]
        return f"```sh\n{step['command']}```\n\n```text\n{output}```\n"

    return STEP.sub(again, page.read_text("utf-8"))


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_print_what_stands_there(page: Path, tmp_path: Path) -> None:
    """But for how long they took."""
    now, then = (
        [" ".join(SECONDS.sub("_ s", line).split()) for line in text.splitlines()]
        for text in (told(page, tmp_path), page.read_text("utf-8"))
    )
    assert now == then


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    for each in PAGES:
        with TemporaryDirectory() as place:
            each.write_text(told(each, Path(place)), "utf-8")
