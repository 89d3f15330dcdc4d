"""Names of machines, generated where a million of them were never written down."""

from collections.abc import Callable, Iterator, Sequence
from typing import overload


class Numbered(Sequence[str]):
    """The names ``prefix + first``, ``prefix + (first + 1)``, …, made on demand.

    >>> names = Numbered("P", 3, first=1)
    >>> list(names), names.index("P3"), names == ("P1", "P2", "P3")
    (['P1', 'P2', 'P3'], 2, True)
    """

    __slots__ = ("_count", "_first", "_prefix")

    def __init__(self, prefix: str, count: int, *, first: int = 0) -> None:
        self._prefix = prefix
        self._count = count
        self._first = first

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        positions = range(self._first, self._first + self._count)[index]
        if isinstance(positions, range):
            return tuple(f"{self._prefix}{number}" for number in positions)
        return f"{self._prefix}{positions}"

    def __iter__(self) -> Iterator[str]:
        prefix = self._prefix
        return (f"{prefix}{number}" for number in range(self._first, self._first + self._count))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._position(name) is not None

    def index(self, value: str, start: int = 0, stop: int | None = None) -> int:
        position = self._position(value)
        if position is None or not start <= position < (self._count if stop is None else stop):
            raise ValueError(f"{value!r} is not among the names")
        return position

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Numbered):
            return self._parts == other._parts
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(other) == len(self) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    @property
    def _parts(self) -> tuple[str, int, int]:
        return self._prefix, self._count, self._first

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"Numbered({self._prefix!r}, {self._count}, first={self._first})"

    def _position(self, name: str) -> int | None:
        digits = name[len(self._prefix) :]
        if not name.startswith(self._prefix) or not (digits.isascii() and digits.isdigit()):
            return None
        number = int(digits)
        if str(number) != digits or not 0 <= number - self._first < self._count:
            return None
        return number - self._first


def index_by_name(names: Sequence[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(names)}


def finder(names: Sequence[str]) -> Callable[[str], int]:
    """Return the function from a name to its index; a billion numbered names take no memory."""
    if not isinstance(names, Numbered):
        return index_by_name(names).__getitem__

    def find(name: str) -> int:
        if name not in names:
            raise KeyError(name)
        return names.index(name)

    return find
