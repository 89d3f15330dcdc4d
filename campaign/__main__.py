"""python -m campaign --minutes N or --tries N: try makespan, and say what went wrong."""

from __future__ import annotations

import argparse
import json
import math
import os
import secrets
import sys
from pathlib import Path

from campaign import cases, crew, report
from campaign.part import MODULES, part_named
from campaign.smaller import smaller
from campaign.state import OtherVersion, State


def main() -> int:
    """Run the command line; return 0 where nothing went wrong."""
    asked = _arguments()
    if asked.replay is not None:
        return _replay(asked.replay)
    if asked.smaller is not None:
        print(json.dumps(smaller(asked.smaller)))
        return 0
    seed = secrets.randbits(32) if asked.seed is None else asked.seed
    try:
        state = State.begin(asked.state, seed, closed=asked.again)
    except OtherVersion as error:
        print(error, file=sys.stderr)
        return 2
    if asked.again:
        state.try_defects_again()
        state.save()
        print(report.as_text(state))
    elif asked.minutes is not None or asked.tries is not None:
        names = asked.only or [name for name in MODULES if name not in asked.without]
        parts = [part_named(name) for name in names]
        print(f"seed {state.seed}, version {state.version}", flush=True)
        crew.run(
            parts,
            state,
            minutes=math.inf if asked.minutes is None else asked.minutes,
            tries=asked.tries,
            jobs=asked.jobs,
            tell=lambda line: print(line, flush=True),
        )
        print(report.as_text(state))
    if asked.report:
        report.write(state)
    return 1 if any(state.open_defects(name) for name in MODULES) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, help="how long to try")
    parser.add_argument("--tries", type=int, metavar="N", help="how often to try each part")
    parser.add_argument(
        "--only", action="append", choices=MODULES, metavar="PART", help="try this part; repeatable"
    )
    parser.add_argument(
        "--without", action="append", choices=MODULES, default=[], metavar="PART", help="leave out"
    )
    parser.add_argument("--seed", type=int, help="makes the same tries again; random without")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes")
    parser.add_argument("--state", type=Path, metavar="FILE", help="go on from these counts")
    parser.add_argument("--report", action="store_true", help="write the table to the docs")
    parser.add_argument(
        "--again", action="store_true", help="replay the state's defects: which are mended?"
    )
    parser.add_argument("--replay", metavar="CASE", help="try a kept case again")
    parser.add_argument(
        "--smaller", metavar="CASE", help="print the smallest input that fails as a kept case does"
    )
    return parser.parse_args()


def _replay(case: str) -> int:
    found = cases.replay(case)
    if found is None:
        print("nothing goes wrong")
        return 0
    print(found.trace or found.what)
    return 1


if __name__ == "__main__":
    sys.exit(main())
