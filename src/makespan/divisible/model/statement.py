"""The fields of a divisible load problem, as its checks see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from typing import Any, ClassVar, Protocol

from makespan.core.numeric.arrays import Floats
from makespan.divisible.model.platform import Star
from makespan.divisible.model.sources import Sources
from makespan.divisible.model.tree import Tree


class Statement(Protocol):
    """What a :class:`~makespan.divisible.problem.DivisibleLoad` states, right or wrong."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def platform(self) -> Star | Tree | Sources: ...

    @property
    def load(self) -> float | None: ...

    @property
    def loads(self) -> Mapping[str, float] | None: ...

    @property
    def held(self) -> Floats | None: ...

    @property
    def rounds(self) -> int | str: ...

    @property
    def ports(self) -> int | str: ...

    @property
    def order(self) -> tuple[str, ...] | None: ...

    @property
    def activation(self) -> tuple[str, ...] | None: ...

    @property
    def return_order(self) -> tuple[str, ...] | None: ...

    @property
    def discipline(self) -> str | None: ...

    @property
    def transfers(self) -> tuple[Any, ...] | None: ...

    @property
    def use(self) -> str: ...

    @property
    def front_end(self) -> bool: ...

    @property
    def integral(self) -> bool: ...

    @property
    def deadline(self) -> float | None: ...

    @property
    def budget(self) -> float | None: ...

    @property
    def objective(self) -> str: ...

    @property
    def chooses_master(self) -> bool: ...

    @property
    def star(self) -> Star: ...
