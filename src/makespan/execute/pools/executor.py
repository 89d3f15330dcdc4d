"""The interface of ``concurrent.futures`` over any pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor as Interface, Future
from functools import partial
from typing import Any, TypeVar

from makespan.execute.calls import Calls
from makespan.execute.pools.map import prepared
from makespan.execute.remote import called

Returned = TypeVar("Returned")


class Executor(Interface):
    """An executor of ``concurrent.futures`` on any pool, which deals calls out as ``map`` does.

    Calls that take little go to workers many at a time, what a worker has not begun is given to
    others, and a process of ours that dies is replaced. The workers are taken with the first call,
    and kept until :meth:`shutdown`.

    Parameters
    ----------
    on, resources, retries
        As for :func:`makespan.execute.map`.

    Raises
    ------
    InputError
        With the first call, if there is no such pool.

    >>> from makespan import execute
    >>> with execute.Executor(on=2) as executor:      # doctest: +SKIP
    ...     print(list(executor.map(pow, [2, 3], [5, 2])))
    [32, 9]
    """

    def __init__(
        self,
        on: Any = None,
        *,
        resources: Mapping[str, float] | None = None,
        retries: int | None = None,
    ) -> None:
        options: Any = {"resources": resources, "retries": retries}
        self._calls = Calls(lambda inbox: prepared(called, (inbox,), on, False, {}, **options))
        self._shutdown = False

    def submit(self, fn: Callable[..., Returned], /, *args: Any, **kwargs: Any) -> Future[Returned]:
        """Begin a call, and return its future."""
        if self._shutdown:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return self._calls.submit((partial, (partial(fn, **kwargs), *args)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin nothing any more.

        Parameters
        ----------
        wait
            Whether to wait for what was submitted. If not, it is withdrawn.
        cancel_futures
            Whether to withdraw it in any case.
        """
        self._shutdown = True
        if wait and not cancel_futures:
            self._calls.wait()
        else:
            self._calls.stop()
