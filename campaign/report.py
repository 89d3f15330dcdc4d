"""The state of a campaign → what people read: lines on a terminal, and the table in the docs."""

from __future__ import annotations

from collections import Counter

from campaign.part import MODULES, part_named
from campaign.state import State
from campaign.version import ROOT
from makespan.core.inputs.files import write_whole

PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- campaign -->", "<!-- end of campaign -->"


def as_text(state: State) -> str:
    """Return every count and rate, and the defects."""
    lines = []
    for name, tries in state.tries.items():
        seconds = state.seconds[name]
        rate = tries / seconds if seconds else 0.0
        lines.append(f"{name}: {tries:,} tries in {seconds:,.0f} s, {rate:,.1f} a second")
        found = state.counts.get(name, Counter())
        lines += [f"  {what}: {count:,}" for what, count in sorted(found.items())]
        goals = part_named(name).goals.items()
        short = [
            f"{what} {found[what]:,} of {goal:,}" for what, goal in goals if found[what] < goal
        ]
        lines += [f"  to do: {'; '.join(short)}"] if short else []
        if name in state.skipped:
            lines.append(f"  skipped: {state.skipped[name]}")
    for key, entry in state.defects.items():
        mended = f", mended in {entry['mended in']}" if entry.get("mended in") else ""
        lines.append(
            f"DEFECT {key}, {entry['times']} times{mended}: {entry['what']} [{entry['place']}]"
        )
        lines += [f"  python -m campaign --replay {case}" for case in entry["cases"]]
    return "\n".join(lines)


def write(state: State) -> None:
    """Put the table of the campaign into the page of the docs, between its marks."""
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    write_whole(PAGE, f"{before}{BEGIN}\n{table(state)}\n{END}{after}")


def table(state: State) -> str:
    """Return the table: what is promised, how it was tried, how often, and what was found."""
    hours = sum(state.seconds.values()) / 3600
    lines = [
        f"Version `{state.commit or state.version}` (source `{state.version}`), "
        f"seed {state.seed}, {hours:.1f} hours of tries, all processes together.",
        "",
        "| part | what must hold | tried | defects found | not mended since |",
        "|---|---|---|--:|--:|",
    ]
    for name in MODULES:
        if name not in state.tries and name not in state.skipped:
            continue
        found, goals = state.counts.get(name, Counter()), part_named(name).goals
        counted = sorted((what not in goals, what) for what in found if "·" not in what)
        tried = [
            f"{what}: {found[what]:,}{_wanted(found[what], goals.get(what, 0))}"
            for _, what in counted
        ]
        if name in state.skipped:
            tried.append(f"left out: {state.skipped[name]}")
        defects = sum(key.startswith(f"{name}-") for key in state.defects)
        cells = (
            f"`{name}`",
            part_named(name).promise,
            "; ".join(tried),
            str(defects),
            str(state.open_defects(name)),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, *_by_method(state)])


def _wanted(count: int, goal: int) -> str:
    return f" of {goal:,}" if count < goal else ""


def _by_method(state: State) -> list[str]:
    """Return the table of counts by method: those whose names hold a dot, kind · method · what."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for found in state.counts.values():
        for what, count in found.items():
            if what.count("·") == 2:
                kind, method, counted = (word.strip() for word in what.split("·"))
                rows.setdefault((kind, method), Counter())[counted] += count
    if not rows:
        return []
    columns = ("solved", "optimal", "infeasible")
    lines = ["", "<details markdown>", "<summary>Each method against enumeration</summary>", ""]
    lines += [f"| kind | method | {' | '.join(columns)} |", f"|---|---|{'--:|' * len(columns)}"]
    for (kind, method), counts in sorted(rows.items()):
        cells = " | ".join(f"{counts[column]:,}" for column in columns)
        lines.append(f"| {kind} | `{method}` | {cells} |")
    return [*lines, "", "</details>"]
