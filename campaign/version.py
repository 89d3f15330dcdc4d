"""What the counts of a campaign are about: the source that was tried, by its content."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "makespan"


def version() -> str:
    """Return a hash of every file of the package; equal sources have equal versions."""
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".js", ".css", ".html"):
            digest.update(f"{path.relative_to(SOURCE)}\0".encode())
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def commit() -> str:
    """Return the commit that is checked out, empty where git does not say."""
    try:
        told = subprocess.run(
            ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return told.stdout.strip()
