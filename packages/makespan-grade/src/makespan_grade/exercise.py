"""exercise.toml → what is asked, and the best plans to compare with."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

import makespan
from makespan import InputError, Result
from makespan.core.errors import Mistake, headed
from makespan.core.inputs.forms import Form, validated
from makespan.core.problem import Problem
from makespan.studio.exercises import read_exercise as read_studio_exercise

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class ProblemForm(Form):
    """A problem that functions are tried on: a kind's generator with options and a seed."""

    generate: str
    options: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0


class GradingForm(Form):
    """How an exercise is graded."""

    points: Positive = 100.0
    step: Positive = 1.0
    scale: list[Annotated[list[NotNegative], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list
    )
    function: str = "plan"
    time_limit: Positive = 10.0
    memory: Positive = 1024.0
    best_within: Positive = 10.0
    problems: list[ProblemForm] = Field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """A question with its problems, and how answers are graded.

    Parameters
    ----------
    title, question
        What students read.
    problems
        The problem of the question first; functions are tried on all of them.
    method
        Whose plan is the best one to compare with.
    rules
        Points, limits and the scale.
    """

    title: str
    question: str
    problems: tuple[Problem, ...]
    method: str
    rules: GradingForm
    _best: dict[int, Result] = field(default_factory=dict, repr=False, compare=False)

    def best(self, number: int = 0) -> Result:
        """Return the best plan that is known of a problem, found once.

        It is the better of the exercise's own method and ``auto``.
        """
        if number not in self._best:
            limit, problem = self.rules.best_within, self.problems[number]
            methods = dict.fromkeys((self.method, "auto"))
            found = [makespan.solve(problem, method=each, time_limit=limit) for each in methods]
            plans = [each for each in found if each.schedule is not None]
            if not plans:
                raise InputError(f"problem {number + 1}: no plan was found to compare with")
            self._best[number] = min(plans, key=lambda plan: (plan.makespan, plan.gap or 0.0))
        return self._best[number]

    def share(self, gap: float) -> float:
        """Return the share of the points that a plan gets whose makespan is ``gap`` above the best.

        Without a scale it is best / makespan, as in the studio.
        """
        scale = self.rules.scale
        if not scale:
            return 1.0 / (1.0 + gap)
        below = [pair for pair in scale if pair[0] <= gap]
        above = [pair for pair in scale if pair[0] > gap]
        if not below or not above:
            return (below or above[:1])[-1][1]
        (g0, s0), (g1, s1) = below[-1], above[0]
        return s0 + (s1 - s0) * (gap - g0) / (g1 - g0)

    def points(self, share: float) -> float:
        """Return points: a whole multiple of the step, rounded down but for errors of floats."""
        step, most = self.rules.step, self.rules.points
        return min(most, int(most * share / step + 1e-6) * step)


def read_exercise(path: str | Path) -> Exercise:
    """Read an exercise: the studio's form, with a table ``[grading]`` where it has one.

    Raises
    ------
    FileError
        If the file can't be read.
    InputError
        With every mistake found in it.
    """
    with headed(str(path)):
        return exercise_in(Path(path).read_text(encoding="utf-8"))


def exercise_in(text: str) -> Exercise:
    """Return the exercise in the text of a TOML file."""
    found = read_studio_exercise(text)  # which says whether it is TOML
    rules = validated(GradingForm, tomllib.loads(text).get("grading", {}), place="grading")
    gaps = [gap for gap, _ in rules.scale]
    if gaps != sorted(set(gaps)) or any(share > 1 for _, share in rules.scale):
        what = "is not of pairs of a gap and a share of the points, 0 to 1, whose gaps rise"
        raise InputError([Mistake("grading.scale", what)])
    problems = [makespan.read_problem(found["problem"])]
    for number, each in enumerate(rules.problems):
        with headed(f"grading.problems[{number}]"):
            grid = makespan.Grid(each.generate, options=each.options, seeds=[each.seed])
            problems += [one.problem() for one in grid]
    return Exercise(
        title=found["title"],
        question=found["question"].strip(),
        problems=tuple(problems),
        method=found["method"],
        rules=rules,
    )
