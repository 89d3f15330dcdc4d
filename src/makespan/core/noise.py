"""How far real durations are from predicted ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, Literal

import numpy as np

from makespan.core.display import counted
from makespan.core.inputs.rules import Mistakes, Rule, quoted, refusal
from makespan.core.inputs.suggest import did_you_mean
from makespan.core.names import finder
from makespan.core.numeric.arrays import Floats, Integers
from makespan.core.schedule import Activity, Schedule
from makespan.core.system.memory import claim

DISTRIBUTIONS = ("normal", "uniform", "lognormal", "gamma", "bernoulli")
ERROR = Rule("an error is 0 or more, as in 0.2")
SUGGESTED_FROM = 200  # names up to which the nearest is suggested
CHANCE = Rule("a chance is above 0 and below 1", strictly=True, high=1 - 1e-9)

OfMachines = Mapping[str, float] | Sequence[float]
OfTasks = Mapping[str, float | OfMachines] | Sequence[float | OfMachines]
"""An error by name, or one for each in order; of a task also one for each machine."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Factors on durations, 1 on average.

    Parameters
    ----------
    distribution
        ``"normal"`` (cut off at 0 and 2, so that the mean stays 1), ``"uniform"``,
        ``"lognormal"``, ``"gamma"``, or ``"bernoulli"``: few activities are slow, and all others
        a little faster than predicted.
    error
        The standard deviation, relative to the predicted duration: 0.2 is 20 %. Cutting off
        makes that of ``"normal"`` a little less. It is that of all activities of which the
        following say nothing.
    transfers
        The error of transfers; 0 for none.
    machines
        Errors of the computations of a machine: by name, or a column with one for each.
    tasks
        Errors of the computations of a task: by name, or a column with one for each; the entry of
        a task may be a table by machine, or a row with one for each, in turn.
    per
        ``"activity"``: every transfer and computation has a factor of its own. ``"machine"``:
        all computations of a machine share one, and so do all transfers between two machines.
    chance
        The share of the activities that are slow under ``"bernoulli"``.

    Raises
    ------
    ProblemError
        If one of these is not allowed.

    >>> Noise("uniform", 0.2).drawn(np.random.default_rng(0), (2, 3)).shape
    (2, 3)
    >>> print(Noise("gamma", 0.2, transfers=0.5, tasks={"T1": {"M2": 0.9}}))
    gamma error of 20 %, 50 % of transfers, others by task, per activity
    """

    distribution: Literal["normal", "uniform", "lognormal", "gamma", "bernoulli"] = "normal"
    error: float = 0.0
    _: KW_ONLY
    transfers: float | None = None
    machines: OfMachines = field(default=(), hash=False)
    tasks: OfTasks = field(default=(), hash=False)
    per: Literal["activity", "machine"] = "activity"
    chance: float = 0.1

    def __post_init__(self) -> None:
        mistakes = Mistakes()
        mistakes.choice("noise.distribution", self.distribution, DISTRIBUTIONS)
        mistakes.choice("noise.per", self.per, ("activity", "machine"))
        mistakes.number("noise.chance", self.chance, CHANCE)
        mistakes.raise_if_any()
        for name in ("machines", "tasks"):
            object.__setattr__(self, name, _plain(getattr(self, name)))
        self._check("noise.error", self.error, mistakes)
        if self.transfers is not None:
            self._check("noise.transfers", self.transfers, mistakes)
        self._check_all("noise.machines", self.machines, 1, mistakes)
        self._check_all("noise.tasks", self.tasks, 2, mistakes)
        if len(self.tasks) and self.per == "machine":
            text = "can't be given where all computations of a machine share a factor"
            mistakes.add("noise.tasks", text)
        mistakes.raise_if_any()

    @property
    def widest(self) -> float:
        """The largest error with which all factors can be positive and 1 on average."""
        slow = math.sqrt((1.0 - self.chance) / self.chance)
        found = {"normal": 0.5, "uniform": 1 / math.sqrt(3), "bernoulli": slow}
        return found.get(self.distribution, math.inf)

    def _check(self, place: str, error: Any, mistakes: Mistakes) -> None:
        text = refusal(error, ERROR)
        if text is None and error > self.widest:
            text = (
                f"{error!r} is above {self.widest:.4g}, the widest {self.distribution} error that "
                "keeps durations positive; lognormal and gamma can be wider"
            )
        if text is not None:
            mistakes.add(place, text)

    def _check_all(self, place: str, errors: Any, depth: int, mistakes: Mistakes) -> None:
        if not isinstance(errors, (Mapping, tuple)):
            text = "is not a table of errors by name, nor a list with one for each"
            mistakes.add(place, f"{quoted(errors)} {text}")
            return
        named = isinstance(errors, Mapping)
        for key, value in errors.items() if isinstance(errors, Mapping) else enumerate(errors):
            inner = f"{place}.{key}" if named else f"{place}[{key}]"
            if depth > 1 and isinstance(value, (Mapping, tuple)):
                self._check_all(inner, value, depth - 1, mistakes)
            else:
                self._check(inner, value, mistakes)

    def drawn(
        self,
        generator: np.random.Generator,
        shape: tuple[int, ...],
        error: Floats | float | None = None,
    ) -> Floats:
        """Return independent factors, of an ``error`` that broadcasts to them; None: ``error``."""
        errors = np.asarray(self.error if error is None else error, dtype=np.float64)
        none = errors == 0.0
        if none.all():
            return np.ones(shape)
        if (errors == errors.flat[0]).all():  # one number is drawn with more quickly
            return self._drawn(generator, shape, float(errors.flat[0]))
        return np.where(none, 1.0, self._drawn(generator, shape, np.where(none, 0.1, errors)))

    def _drawn(self, generator: np.random.Generator, shape: tuple[int, ...], error: Any) -> Floats:
        if self.distribution == "uniform":
            half = error * math.sqrt(3.0)
            return generator.uniform(1.0 - half, 1.0 + half, shape)
        if self.distribution == "lognormal":
            variance = np.log1p(error**2)
            return generator.lognormal(-variance / 2.0, np.sqrt(variance), shape)
        if self.distribution == "gamma":
            return generator.gamma(1.0 / error**2, error**2, shape)
        if self.distribution == "bernoulli":
            odds = math.sqrt((1.0 - self.chance) / self.chance)
            slow = generator.random(shape) < self.chance
            return np.asarray(1.0 + error * np.where(slow, odds, -1.0 / odds))
        factors: Floats = generator.normal(1.0, error, shape)
        spread = np.broadcast_to(error, shape)
        while (outside := (factors <= 0.0) | (factors >= 2.0)).any():
            factors[outside] = generator.normal(1.0, spread[outside])
        return factors

    def of_transfers(self) -> float:
        """Return the error of transfers."""
        return float(self.error if self.transfers is None else self.transfers)

    def of_computations(
        self,
        item: Integers,
        machine: Integers,
        machines: Sequence[str],
        tasks: Sequence[str] | None = None,
    ) -> Floats:
        """Return the errors of computations of items on machines, entry by entry.

        Parameters
        ----------
        item, machine
            Indices.
        machines, tasks
            The names that they index; None where what is computed has no names.

        Raises
        ------
        ProblemError
            If there are errors of others, or not one for each.
        """
        mistakes = Mistakes()
        found = np.full(len(machine), float(self.error))
        if len(self.machines):
            table = table_of("noise.machines", self.machines, "machine", machines, mistakes)
            found = _over(table[machine, 0], found)
        if len(self.tasks) and tasks is None:
            mistakes.add("noise.tasks", "what is computed here has no names; machines have")
        elif len(self.tasks):
            assert tasks is not None
            table = table_of("noise.tasks", self.tasks, "task", tasks, mistakes, machines)
            if not mistakes:
                found = _over(table[item, machine if table.shape[1] > 1 else 0], found)
        mistakes.raise_if_any()
        return found

    def groups(
        self, schedule: Schedule, tasks: Sequence[str] | None = None
    ) -> tuple[Integers, Floats]:
        """Return for each row the number of the factor that it takes, -1 for none; and the error
        of each factor.

        ``tasks`` are the names of what is computed, where it has any.
        """
        computes = (schedule.kind == Activity.COMPUTE) | (schedule.kind == Activity.REDUCE)
        errors = np.full(len(schedule), self.of_transfers())
        errors[computes] = self.of_computations(
            schedule.item[computes], schedule.machine[computes], schedule.machines, tasks
        )
        groups = np.full(len(schedule), -1, dtype=np.int64)
        rows = np.flatnonzero(errors > 0.0)
        if self.per == "activity":
            groups[rows] = np.arange(len(rows))
            return groups, errors[rows]
        count = len(schedule.machines) + 1
        ends = np.sort(np.stack([schedule.machine, schedule.peer], axis=1), axis=1)[rows]
        key = np.where(computes[rows], ends[:, 1], count + (ends[:, 0] + 1) * count + ends[:, 1])
        _, first, groups[rows] = np.unique(key, return_index=True, return_inverse=True)
        return groups, errors[rows[first]]

    def as_dict(self) -> dict[str, Any]:
        """Return the noise as a table for a file, which :func:`as_noise` takes."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        unused = () if self.distribution == "bernoulli" else ("chance",)
        return {
            name: _listed(value)
            for name, value in given.items()
            if name not in unused and value is not None and value not in ((), {})
        }

    def __str__(self) -> str:
        parts = [f"{self.distribution} error of {100 * self.error:g} %"]
        if self.transfers is not None and self.transfers != self.error:
            parts.append(f"{100 * self.transfers:g} % of transfers")
        by = [word for word, each in (("task", self.tasks), ("machine", self.machines)) if each]
        parts += [f"others by {' and '.join(by)}"] if by else []
        separator = ", " if len(parts) > 1 else " "
        return f"{', '.join(parts)}{separator}per {self.per}"


def as_noise(noise: Noise | float | Mapping[str, Any]) -> Noise:
    """Return ``noise`` as a :class:`Noise`: a number is a normal relative error per activity, a
    table has its parameters.

    Raises ProblemError if it is not allowed.

    >>> as_noise({"distribution": "gamma", "error": 0.3}) == Noise("gamma", 0.3)
    True
    """
    if isinstance(noise, Noise):
        return noise
    if not isinstance(noise, Mapping):
        return Noise("normal", noise)
    known = [each.name for each in fields(Noise)]
    mistakes = Mistakes()
    for name in noise:
        if name not in known:
            mistakes.add(f"noise.{name}", f"there is no such entry{did_you_mean(name, known)}")
    mistakes.raise_if_any()
    return Noise(**noise)


def table_of(
    place: str,
    errors: OfMachines | OfTasks,
    word: str,
    names: Sequence[str],
    mistakes: Mistakes,
    machines: Sequence[str] | None = None,
) -> Floats:
    """Return errors as a table: a row for each name, a column or one for each machine.

    It holds NaN where nothing is given.
    """
    named = isinstance(errors, Mapping)
    entries: list[tuple[Any, Any]] = [
        *(errors.items() if isinstance(errors, Mapping) else enumerate(errors))
    ]
    deep = machines is not None and any(isinstance(each, (Mapping, tuple)) for _, each in entries)
    width = len(machines) if deep and machines is not None else 1
    claim(8.0 * len(names) * width, "the errors of all tasks on all machines")
    table = np.full((len(names), width), np.nan)
    if not named and len(entries) != len(names):
        mistakes.add(place, f"has {len(entries)} entries; there are {counted(len(names), word)}")
        return table
    find = finder(names)
    for key, value in entries:
        try:
            row: int = find(key) if named else key
        except KeyError:
            mistakes.add(f"{place}.{key}", f"there is no {word} {key!r}{_hint(key, names)}")
            continue
        if isinstance(value, (Mapping, tuple)):
            assert machines is not None
            inner = f"{place}.{key}" if named else f"{place}[{key}]"
            table[row] = table_of(inner, value, "machine", machines, mistakes)[:, 0]
        else:
            table[row] = value
    return table


def _hint(key: Any, names: Sequence[str]) -> str:
    return did_you_mean(key, names) if len(names) <= SUGGESTED_FROM else ""


def _over(found: Floats, rest: Floats) -> Floats:
    """Return what was found, and the rest where that is NaN."""
    return np.where(np.isnan(found), rest, found)


def _plain(errors: Any) -> Any:
    """Return tables and columns that nobody can change, of plain numbers."""
    if isinstance(errors, Mapping):
        return {key: _plain(each) for key, each in errors.items()}
    if isinstance(errors, np.ndarray):
        errors = errors.tolist()
    if isinstance(errors, (list, tuple)):
        return tuple(_plain(each) for each in errors)
    return errors


def _listed(errors: Any) -> Any:
    if isinstance(errors, Mapping):
        return {key: _listed(each) for key, each in errors.items()}
    return [_listed(each) for each in errors] if isinstance(errors, tuple) else errors
