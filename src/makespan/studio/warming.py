"""What is imported and compiled at the first use, used once before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterator

WARMING: Iterator[bool] = iter(())
