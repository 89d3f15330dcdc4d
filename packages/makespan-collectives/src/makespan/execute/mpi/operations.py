"""What combines two arrays: operations of MPI, their names, ufuncs of NumPy, functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from makespan.core.errors import InputError
from makespan.core.inputs.rules import quoted
from makespan.core.inputs.suggest import did_you_mean
from makespan.execute.mpi.world import mpi

Array = NDArray[Any]
Combine = Callable[[Array, Array, Array], object]
"""Takes two arrays and the array for what comes of them, which may be one of both."""

UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "land": np.logical_and,
    "lor": np.logical_or,
    "lxor": np.logical_xor,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
}
"""The operations of MPI as NumPy has them, by the names that MPI gives them."""


def operation_of(given: Any) -> Any:
    """Return the ufunc of what was given, or the operation of MPI or the function that it is."""
    if isinstance(given, str):
        if given.lower() not in UFUNCS:
            raise InputError(f"op: {given!r} is not an operation{did_you_mean(given, UFUNCS)}")
        return UFUNCS[given.lower()]
    package = mpi()
    if isinstance(given, package.Op):
        if given in (package.OP_NULL, package.REPLACE, package.NO_OP):
            raise InputError("op: MPI.REPLACE, NO_OP and OP_NULL combine nothing")
        named = (UFUNCS[name] for name in UFUNCS if given == getattr(package, name.upper()))
        return next(named, given)
    if not callable(given) or (isinstance(given, np.ufunc) and (given.nin, given.nout) != (2, 1)):
        raise InputError(f"op: {quoted(given)} is not an operation of two arrays")
    return given


def commutes(operation: Any) -> bool:
    """Return whether the order of operands may change, which MPI knows of its own; else assumed."""
    return bool(operation.Is_commutative()) if isinstance(operation, mpi().Op) else True


def combiner(operation: Any, dtype: np.dtype[Any]) -> Combine:
    """Return the function that combines arrays of a type."""
    if isinstance(operation, np.ufunc):
        _check_loop(operation, dtype)
        return operation
    if isinstance(operation, mpi().Op):
        return _reduce_local(operation, dtype)

    def call(one: Array, other: Array, out: Array) -> None:
        out[...] = operation(one, other)

    return call


def _check_loop(ufunc: np.ufunc, dtype: np.dtype[Any]) -> None:
    try:
        result = ufunc.resolve_dtypes((dtype, dtype, None))[2]
    except TypeError:
        result = None
    if dtype.hasobject or result is None or not np.can_cast(result, dtype, "same_kind"):
        raise InputError(f"op: {ufunc.__name__} of two {dtype} gives no {dtype}")


def _reduce_local(operation: Any, dtype: np.dtype[Any]) -> Combine:
    """Return an operation of MPI on NumPy's arrays; it overwrites its second operand."""
    from mpi4py.util.dtlib import from_numpy_dtype

    try:
        datatype = from_numpy_dtype(dtype)
    except ValueError as error:
        raise InputError(f"op: MPI has no type for {dtype}, only NumPy") from error

    def call(one: Array, other: Array, out: Array) -> None:
        into = other if out is other else other.copy()
        operation.Reduce_local([one, len(one), datatype], [into, len(into), datatype])
        if into is not out:
            out[...] = into

    return call
