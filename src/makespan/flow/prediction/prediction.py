"""What is predicted of a run, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any

from makespan.core.noise import Noise
from makespan.flow.prediction.replay import Overheads
from makespan.flow.result import Result

SHARE = 0.9  # of the runs that end within the interval


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """How long a run takes on machines, as its engine would make it.

    Parameters
    ----------
    makespan
        Seconds.
    interval
        The seconds within which 90 % of the runs end that noise makes of it.
    lower_bound
        Seconds that no order of the tasks goes below.
    plan
        The seconds of the best order that is known.
    measured
        What the trace says, on its own machines; None where it says nothing.
    waits
        What the end waits for, one after another: seconds of ``"startup"``, ``"setup"``,
        ``"dispatch"``, ``"link"`` and ``"work"``, which add up to the makespan.
    one_machine_more
        The makespan with another machine like the fastest.
    link_twice_as_fast
        The makespan with twice the link; None where no link is known.
    overheads
        What the engine adds: ``startup``, ``setup``, ``dispatch`` and ``link``.
    noise
        What durations are disturbed by.
    result
        The run as a plan, to draw and save.
    notes
        Sentences for the reader.

    >>> import makespan, pathlib, tempfile
    >>> times = pathlib.Path(tempfile.mkdtemp(), ".test_durations")
    >>> _ = times.write_text('{"a.py::x": 3, "a.py::y": 2, "b.py::z": 2}')
    >>> makespan.predict(times, machines=2).waits["work"]
    4.0
    """

    makespan: float
    interval: tuple[float, float]
    lower_bound: float
    plan: float
    measured: float | None
    waits: Mapping[str, float]
    one_machine_more: float
    link_twice_as_fast: float | None
    overheads: Overheads
    noise: Noise
    result: Result = field(repr=False)
    notes: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the prediction for a file, without its plan."""
        data = {"format": "makespan.prediction/1", **asdict(replace(self, result=None))}  # type: ignore[arg-type]
        del data["result"]
        data["noise"] = self.noise.as_dict()
        data["overheads"]["link"] = None if self.overheads.link == inf else self.overheads.link
        return data

    def __str__(self) -> str:
        low, high = self.interval
        parts = [f"{value:.6g} s {name}" for name, value in self.waits.items() if value]
        lines = [
            f"predicted     {self.makespan:.6g} s, {SHARE:.0%} from {low:.6g} to {high:.6g} s",
            f"lower bound   {self.lower_bound:.6g} s, best order known {self.plan:.6g} s",
            f"waits for     {', '.join(parts) or 'nothing'}",
            f"machine more  {self._changed(self.one_machine_more)}",
        ]
        if self.link_twice_as_fast is not None:
            lines.append(f"link doubled  {self._changed(self.link_twice_as_fast)}")
        if self.measured is not None:
            lines.append(f"measured      {self.measured:.6g} s, on the machines of the trace")
        return "\n".join(lines)

    def _changed(self, makespan: float) -> str:
        return f"{makespan:.6g} s ({makespan - self.makespan:+.4g} s)"
