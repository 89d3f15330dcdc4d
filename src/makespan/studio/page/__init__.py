"""The page."""

from __future__ import annotations


def assets() -> dict[str, tuple[str, bytes]]:
    """Return what a browser may load: by path, its media type and its content."""
    return {"/": ("text/html; charset=utf-8", b"<!doctype html><title>makespan</title>")}
