"""A property that is worked out once, without a lock."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - it stands where Python's own would
    """A method of one object, as an attribute that is worked out when it is first asked for.

    Python 3.11's own holds a lock of the whole class meanwhile: a process that is forked then finds
    it held for ever. Two threads that ask at once may both work the value out; both get the first.

    >>> class Circle:
    ...     radius = 2.0
    ...     @cached_property
    ...     def area(self) -> float:
    ...         return 3.0 * self.radius**2
    >>> circle = Circle()
    >>> circle.area, vars(circle)
    (12.0, {'area': 12.0})
    """

    def __init__(self, function: Callable[[Any], Value]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: Any, owner: type) -> Self | Value:
        if instance is None:
            return self
        value: Value = instance.__dict__.setdefault(self.name, self.function(instance))
        return value
