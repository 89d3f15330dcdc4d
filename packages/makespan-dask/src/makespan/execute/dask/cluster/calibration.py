"""What was measured of a cluster, as platforms and problems to plan on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from makespan.core.costs import Affine
from makespan.core.display import HasFrame, Table, counted
from makespan.core.errors import ExecutionError
from makespan.divisible.model.machines import Master, Worker
from makespan.divisible.model.platform import Star
from makespan.divisible.problem import DivisibleLoad
from makespan.execute.dask.cluster.fit import Fit, Sharing
from makespan.execute.dealing.costs import MASTER_NAME
from makespan.execute.measured import Measurement
from makespan.partition.model.curves import Samples
from makespan.partition.problem import Partition

USUAL_ROUNDS = 4  # where their number is left open
MIN_COST = 1e-12  # seconds a unit: nothing computes in no time
RETURNS_MATTER_FROM = 0.02  # of what sending and computing a unit cost together


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of one worker.

    ``whole`` is what chunks took from the start of sending until the result was there: (items,
    seconds), the median of each size, by increasing size.
    """

    name: str  # its name on the scheduler
    threads: int  # how many parts of a chunk it computes at a time
    send: Fit
    compute: Fit  # the time on the worker alone
    return_: Fit
    submit: float  # seconds of a task until it is known to be done, without its computation
    between: float  # seconds between the end of a task and the start of the next that waits for it
    whole: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Calibration(Measurement, HasFrame):
    """A calibrated cluster.

    Parameters
    ----------
    workers
        What was measured of each worker.
    sharing
        How concurrent sends share the way.
    load
        The load of the sample, units (items, or bytes of files).
    seconds
        How long the measurement took.
    in_items
        Whether the load is counted in items; files are counted in bytes.

    >>> from makespan.execute import dask
    >>> costs = dask.calibrate(abs, list(range(1000)), client, time_limit=0.2)  # doctest: +SKIP
    >>> plan = dask.plan(costs, 4000)  # doctest: +SKIP
    >>> plan.makespan >= plan.lower_bound > 0  # doctest: +SKIP
    True
    """

    FORMAT: ClassVar[str] = "makespan.calibration/1"
    MADE_BY: ClassVar[str] = "dask.calibrate(function, sample, client)"

    workers: tuple[Measured, ...]
    sharing: Sharing
    load: float
    seconds: float
    in_items: bool = True

    @property
    def ports(self) -> Literal[1, "many"]:
        """What the master's transfers exclude, as in :class:`makespan.DivisibleLoad`."""
        return 1 if self.sharing.kind == "one-port" else "many"

    @property
    def returns(self) -> bool:
        """Whether bringing results back costs enough to be planned."""
        return any(
            worker.return_.per_unit_interval[0]
            > RETURNS_MATTER_FROM * (worker.send.cost.per_unit + worker.compute.cost.per_unit)
            for worker in self.workers
        )

    @property
    def rejected(self) -> tuple[str, ...]:
        """A sentence for every measurement that was left out as disturbed."""
        return tuple(
            f"{worker.name}: {what} of {units:g} units took {seconds:.4g} s, "
            f"{found.cost.of(units):.4g} s expected"
            for worker in self.workers
            for what, found in _fits(worker)
            for units, seconds in found.rejected
        )

    def star(
        self, *, waits: float | Mapping[str, float] = 1.0, ports: Literal[1, 2, "many"] = 1
    ) -> Star:
        """Return the platform to plan on.

        Submitting a chunk and learning of its end takes time in which the worker computes its
        other chunks: of all chunks of a worker only the last ones wait. ``waits`` is the share of
        this time that is charged to each chunk, by worker or for all: 1 for a single round,
        1/n or more for n chunks. What a task costs between its neighbours is always charged.
        """
        shared = self.sharing.uplink if ports == "many" else None
        workers = [
            self._worker(worker, waits if isinstance(waits, float) else waits.get(worker.name, 1.0))
            for worker in self.workers
        ]
        return Star(workers, master=Master(name=MASTER_NAME, uplink=shared))

    def _worker(self, worker: Measured, share: float) -> Worker:
        compute = worker.compute.cost
        waits = worker.submit
        if not self.returns:
            waits += worker.return_.cost.fixed
        return Worker(
            name=worker.name,
            send=worker.send.cost,
            compute=Affine(
                compute.fixed + worker.between + waits * share,
                max(MIN_COST, compute.per_unit)
                + (0.0 if self.returns else worker.return_.cost.per_unit),
            ),
            return_=worker.return_.cost if self.returns else None,
        )

    def problem(
        self,
        load: float | None = None,
        *,
        rounds: int | Literal["auto"] = 1,
        ports: Literal[1, 2, "many"] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> DivisibleLoad:
        """Return the problem of dividing ``load`` units (those of the sample where None).

        ``ports`` is as measured where it is None.
        """
        ports = self.ports if ports is None else ports
        expected = USUAL_ROUNDS if rounds == "auto" else rounds
        return DivisibleLoad(
            platform=self.star(waits=1.0 / expected, ports=ports),
            load=self.load if load is None else load,
            rounds=rounds,
            ports=ports,
            options=options or {},
        )

    def partition(
        self,
        tasks: int,
        *,
        interpolation: str = "linear",
        objective: Literal["makespan", "total"] = "makespan",
    ) -> Partition:
        """Return the problem of splitting so many items over the workers by measured tables.

        The cost of each measured count is what it took, of the counts between as interpolated
        (:class:`makespan.partition.model.curves.Samples`). Above the largest measured count the
        time grows by the fitted costs; nothing is computed in no time.

        Raises
        ------
        ExecutionError
            If the load was not counted in items.
        """
        if not self.in_items:
            raise ExecutionError("a partition counts items; this calibration's load is in bytes")
        costs = {
            worker.name: self._samples(worker, tasks, interpolation) for worker in self.workers
        }
        return Partition(tasks=tasks, costs=costs, objective=objective)

    def _samples(self, worker: Measured, tasks: int, interpolation: str) -> Samples:
        table = {0: 0.0, **dict(worker.whole)}
        largest = max(table)
        if tasks > largest:
            per_unit = sum(found.cost.per_unit for _, found in _fits(worker))
            table[tasks] = table[largest] + per_unit * (tasks - largest)
        counts = sorted(table)
        return Samples(counts=counts, costs=[table[c] for c in counts], interpolation=interpolation)

    def save(
        self,
        path: str | os.PathLike[str],
        load: float | None = None,
        *,
        rounds: int | Literal["auto"] | None = None,
    ) -> None:
        """Write the calibration to a file (``.json``), or a problem of dividing a load on it.

        Parameters
        ----------
        path
            Where to.
        load, rounds
            If one is given, the file (``.toml`` or ``.json``) holds :meth:`problem` of them; else
            all that was measured, for :meth:`read`.

        Raises
        ------
        FileError
            If the suffix is another, or the file can't be written.
        """
        from makespan.flow.files.files import save

        if load is not None or rounds is not None:
            save(self.problem(load, rounds=1 if rounds is None else rounds), path)
        else:
            Measurement.save(self, path)

    def as_dict(self) -> dict[str, Any]:
        """Return everything measured as plain data."""
        return {**asdict(self), "ports": self.ports, "rejected": list(self.rejected)}

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        rows = [(worker.name, what, fit) for worker in self.workers for what, fit in _fits(worker)]
        return {
            "worker": [name for name, _, _ in rows],
            "what": [what for _, what, _ in rows],
            "fixed": [fit.cost.fixed for _, _, fit in rows],
            "fixed_low": [fit.fixed_interval[0] for _, _, fit in rows],
            "fixed_high": [fit.fixed_interval[1] for _, _, fit in rows],
            "per_unit": [fit.cost.per_unit for _, _, fit in rows],
            "per_unit_low": [fit.per_unit_interval[0] for _, _, fit in rows],
            "per_unit_high": [fit.per_unit_interval[1] for _, _, fit in rows],
            "quality": [fit.quality for _, _, fit in rows],
        }

    def _facts(self) -> Sequence[str]:
        return [counted(len(self.workers), "worker"), f"measured in {self.seconds:.3g} s"]

    def _notes(self) -> Sequence[str]:
        return [f"sends: {_said(self.sharing)}", *(f"rejected: {each}" for each in self.rejected)]

    def _tables(self) -> Sequence[Table]:
        return [Table.of(self._columns())]

    def __str__(self) -> str:
        """A table of the costs with their confidence intervals, and how sends overlap."""
        width = max([6, *(len(worker.name) for worker in self.workers)])
        lines = [
            f"{'worker':<{width}}  {'':<7}  {'fixed (s)':>26}  {'per unit (s)':>32}  {'R²':>7}"
        ]
        for worker in self.workers:
            for what, found in _fits(worker):
                lines.append(f"{worker.name:<{width}}  {what:<7}  {_described(found)}")
            lines.append(
                f"{worker.name:<{width}}  {'submit':<7}  {worker.submit:.4g} s, "
                f"{worker.between:.3g} s between tasks"
            )
        lines.append(f"sends: {_said(self.sharing)}")
        lines += [f"rejected: {sentence}" for sentence in self.rejected]
        return "\n".join(lines)


def _fits(worker: Measured) -> tuple[tuple[str, Fit], ...]:
    return ("send", worker.send), ("compute", worker.compute), ("return", worker.return_)


def _described(found: Fit) -> str:
    low, high = found.fixed_interval
    fixed = f"{found.cost.fixed:.4g} [{low:.3g}, {high:.3g}]"
    low, high = found.per_unit_interval
    per_unit = f"{found.cost.per_unit:.5g} [{low:.4g}, {high:.4g}]"
    return f"{fixed:>26}  {per_unit:>32}  {found.quality:>7.4f}"


def _said(sharing: Sharing) -> str:
    measured = (
        f"together {sharing.together:.3g} s; alone {sharing.longest:.3g} s the longest, "
        f"{sharing.total:.3g} s in all"
    )
    if sharing.kind == "one-port":
        return f"one at a time ({measured})"
    if sharing.kind == "shared-link":
        return f"share a link of {sharing.uplink:.5g} units/s ({measured})"
    return f"overlap on links of their own ({measured})"
