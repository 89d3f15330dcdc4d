"""Solves the problems that come in, a line each, and prints the plans: another process to ask."""

from __future__ import annotations

import json
import sys
import warnings

from campaign.metamorphic import answered
from makespan.flow.files.files import problem_of


def main() -> None:
    """Answer until the input ends."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        answer = answered(problem_of(asked["problem"]), asked["method"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
