"""Methods side by side as bars: what each reached, and how often it was near the best."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from makespan.core.display import Axes
from makespan.core.picture import Role
from makespan.drawing.colours import FAINT_INK, FILL, GRID, LIGHT, LIMIT, ON_PAGE
from makespan.drawing.render import NARROW, Part
from makespan.drawing.svg import Canvas
from makespan.drawing.text import elided, in_rows, short, text_width, ticks

SIZE, TITLE, SMALL, WIDTH = 11.0, 14.0, 10.0, 900.0
BOLD = 1.08  # times as wide as text that is not
LINE, BAR = 24.0, 16.0
PADDING = 12.0
WIDEST = 190.0  # of names and notes beside bars
BEST, OTHERS = FILL[Role.SEND], FILL[Role.RECEIVE]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A method: what it reached (None: nothing), what is said beside it, whether it is best."""

    name: str
    value: float | None
    note: str = ""
    best: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Methods on one problem."""

    title: str
    what: str  # what the bars measure, such as ``makespan (s)``
    entries: tuple[Entry, ...]  # from top to bottom
    bound: float | None = None  # the bound on the values; None for none

    @property
    def horizon(self) -> float:
        """The value at the right edge."""
        values = [entry.value for entry in self.entries if entry.value is not None]
        return max([*values, self.bound or 0.0]) * 1.02 or 1.0

    @property
    def part(self) -> Part:
        """The ranking as a part of a figure."""
        return 1.4 + 0.32 * len(self.entries), partial(ranking_axes, self)


def ranking_svg(ranking: Ranking, *, width: float = WIDTH, on_page: bool = False) -> str:
    """Return a ranking as one SVG element."""
    colours = ON_PAGE if on_page else LIGHT
    canvas, height = Canvas(ranking.title), PADDING + TITLE + 26 + LINE * len(ranking.entries) + 44
    canvas.rectangle((0, 0, width, height), colours["paper"])
    _Panel(canvas, ranking, width, colours).draw()
    return canvas.document(width, height)


class _Panel:
    """One ranking on a canvas."""

    def __init__(
        self, canvas: Canvas, ranking: Ranking, width: float, colours: Mapping[str, str]
    ) -> None:
        entries = ranking.entries
        names = max((text_width(entry.name, SIZE) for entry in entries), default=0.0)
        notes = max((text_width(_beside(entry), SIZE) for entry in entries), default=0.0)
        self.canvas, self.ranking, self.colours, self.width = canvas, ranking, colours, width
        self.widest = _widest(width)
        self.left = PADDING + min(names, self.widest) + 8
        self.right = width - PADDING - min(notes, self.widest) - 8
        self.rows = PADDING + TITLE + 26
        self.bottom = self.rows + LINE * len(entries)
        self.scale = (self.right - self.left) / ranking.horizon

    def draw(self) -> None:
        canvas, ranking = self.canvas, self.ranking
        _title(canvas, ranking.title, self.width, self.colours["ink"])
        for tick in ticks(ranking.horizon, (self.right - self.left) / 80):
            x = self.left + tick.time * self.scale
            canvas.line((x, self.rows), (x, self.bottom), self.colours["grid"], width=0.5)
            at = (x, self.bottom + 15)
            canvas.text(at, tick.label, size=SIZE, fill=self.colours["ink"], anchor="middle")
        for index, entry in enumerate(ranking.entries):
            self._entry(entry, self.rows + LINE * index)
        canvas.line((self.left, self.bottom), (self.right, self.bottom), self.colours["faint"])
        at = (self.right, self.bottom + 31)
        canvas.text(at, ranking.what, size=SIZE, fill=self.colours["faint"], anchor="end")
        self._bound()

    def _entry(self, entry: Entry, top: float) -> None:
        base = top + LINE / 2 + SIZE * 0.36
        name = elided(entry.name, SIZE, self.widest)
        at = (self.left - 8, base)
        self.canvas.text(
            at, name, size=SIZE, fill=self.colours["ink"], anchor="end", bold=entry.best
        )
        if entry.value is not None:
            box = (self.left, top + (LINE - BAR) / 2, entry.value * self.scale, BAR)
            self.canvas.rectangle(box, BEST if entry.best else OTHERS)
        beside = elided(_beside(entry), SIZE, self.widest)
        self.canvas.text(
            (self.right + 8, base), beside, size=SIZE, fill=self.colours["faint"], tip=entry.note
        )

    def _bound(self) -> None:
        if self.ranking.bound is None:
            return
        x = self.left + self.ranking.bound * self.scale
        ends = (x, self.rows - 6), (x, self.bottom)
        self.canvas.line(*ends, self.colours["limit"], width=1.5, dashes="5 3")
        label = f"bound {short(self.ranking.bound, 6)}"
        side = "end" if x > (self.left + self.right) / 2 else "start"
        at = (x, self.rows - 9)
        self.canvas.text(at, label, size=SIZE, fill=self.colours["limit"], anchor=side, bold=True)


def _widest(width: float) -> float:
    """Return how wide names and notes beside bars may be, which leaves room for the bars."""
    return min(WIDEST, 0.3 * width)


def _title(canvas: Canvas, title: str, width: float, ink: str) -> None:
    """Write a title above a picture, smaller where it is long, elided where that is too small."""
    room = (width - 2 * PADDING) / BOLD
    size = min(TITLE, max(SMALL, TITLE * room / (text_width(title, TITLE) or 1.0)))
    at = (PADDING, PADDING + TITLE)
    canvas.text(at, elided(title, size, room), size=size, fill=ink, bold=True)


def _beside(entry: Entry) -> str:
    value = "" if entry.value is None else short(entry.value, 6)
    return ", ".join(filter(None, (value, entry.note)))


def ranking_axes(ranking: Ranking, ax: Axes) -> Axes:
    """Draw a ranking into matplotlib axes and return them."""
    entries = ranking.entries
    places = list(range(len(entries)))
    values = [entry.value or 0.0 for entry in entries]
    colours = [BEST if entry.best else OTHERS for entry in entries]
    ax.barh(places, values, color=colours, height=0.65)
    _frame(ax, [entry.name for entry in entries], ranking.horizon, ranking.what)
    ax.set_title(ranking.title, loc="left", pad=16.0, parse_math=False)
    style: dict[str, Any] = {"va": "center", "fontsize": 8.0, "parse_math": False}
    for place, entry in zip(places, entries, strict=True):
        at = (1.01, place)
        text = elided(_beside(entry), 8.0, WIDEST)
        ax.annotate(text, at, xycoords=("axes fraction", "data"), color=FAINT_INK, **style)
    if ranking.bound is not None:
        ax.axvline(ranking.bound, color=LIMIT, linestyle="--", linewidth=1.5)
        label = f"bound {short(ranking.bound, 6)}"
        side = "right" if ranking.bound > ranking.horizon / 2 else "left"
        look: dict[str, Any] = {"color": LIMIT, "fontsize": 8.0, "ha": side, "va": "bottom"}
        ax.annotate(label, (ranking.bound, 1.0), xycoords=("data", "axes fraction"), **look)
    ax.grid(True, axis="x", color=GRID, linewidth=0.5)
    ax.set_axisbelow(True)
    return ax


def _frame(ax: Axes, names: list[str], end: float, what: str) -> None:
    """Name the bars in axes, from top to bottom, and what they measure, up to ``end``."""
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.invert_yaxis()
    ax.set_xlim(0.0, end)
    ax.set_xlabel(what, loc="right")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


SHADES = ("#08306B", "#08519C", "#2171B5", "#4292C6", "#6BAED6", "#9ECAE1", "#C6DBEF")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How often methods were near the best."""

    title: str
    thresholds: tuple[str, ...]  # distances to the best, rising, as they are shown: ``1 %``
    shares: tuple[tuple[str, tuple[float, ...]], ...]  # by method: of the problems, within each

    @property
    def part(self) -> Part:
        """The profile as a part of a figure."""
        return 1.6 + 0.32 * len(self.shares), partial(profile_axes, self)


def profile_svg(profile: Profile, *, width: float = WIDTH, on_page: bool = False) -> str:
    """Return a profile as one SVG element: one bar a method, the darker the nearer to the best."""
    canvas, colours = Canvas(profile.title), ON_PAGE if on_page else LIGHT
    names = max((text_width(name, SIZE) for name, _ in profile.shares), default=0.0)
    widest = _widest(width)
    left, right = PADDING + min(names, widest) + 8, width - PADDING - 20
    words = in_rows((29 + text_width(word, SIZE) for word in profile.thresholds), left, width)
    rows = PADDING + TITLE + 24 + 16 * (words[-1][0] + 1 if words else 0)
    bottom = rows + LINE * len(profile.shares)
    canvas.rectangle((0, 0, width, bottom + 34), colours["paper"])
    _title(canvas, profile.title, width, colours["ink"])
    for (row, x), threshold, shade in zip(words, profile.thresholds, SHADES, strict=False):
        top = PADDING + TITLE + 12 + 16 * row
        canvas.rectangle((x, top, 11, 11), shade)
        canvas.text((x + 15, top + 10), threshold, size=SIZE, fill=colours["ink"])
    for part in range(0, 101, 20):
        x = left + (right - left) * part / 100
        canvas.line((x, rows), (x, bottom), colours["grid"], width=0.5)
        at = (x, bottom + 15)
        canvas.text(at, f"{part} %", size=SIZE, fill=colours["ink"], anchor="middle")
    for index, (name, shares) in enumerate(profile.shares):
        y = rows + LINE * index
        at, word = (left - 8, y + LINE / 2 + SIZE * 0.36), elided(name, SIZE, widest)
        canvas.text(at, word, size=SIZE, fill=colours["ink"], anchor="end")
        begin = 0.0
        for share, shade, threshold in zip(shares, SHADES, profile.thresholds, strict=False):
            if share > begin:
                x, wide = left + (right - left) * begin, (right - left) * (share - begin)
                tip = f"{name}: {threshold}: {100 * share:.0f} %"
                canvas.rectangle((x, y + (LINE - BAR) / 2, wide, BAR), shade, tip=tip)
                begin = share
    canvas.line((left, bottom), (right, bottom), colours["faint"])
    return canvas.document(width, bottom + 34)


def profile_axes(profile: Profile, ax: Axes) -> Axes:
    """Draw a profile into matplotlib axes and return them."""
    places = list(range(len(profile.shares)))
    begin = [0.0] * len(places)
    for index, threshold in enumerate(profile.thresholds):
        ends = [100 * shares[index] for _, shares in profile.shares]
        widths = [end - start for end, start in zip(ends, begin, strict=True)]
        ax.barh(places, widths, left=begin, height=0.65, color=SHADES[index], label=threshold)
        begin = ends
    _frame(ax, [name for name, _ in profile.shares], 100.0, "% of the problems")
    ax.set_title(profile.title, loc="left", pad=28.0, parse_math=False)
    columns = len(profile.thresholds)
    look: dict[str, Any] = {"frameon": False, "fontsize": 8}
    if ax.get_figure(root=True).get_size_inches()[0] < NARROW:  # type: ignore[union-attr]
        columns = (columns + 1) // 2
        look |= {"handlelength": 1.0, "columnspacing": 1.0, "handletextpad": 0.4, "fontsize": 7}
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, **look)
    return ax
