"""The geometry of the charts: shares of a width in percent, so that they fit a phone and a desk without a script."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from outcrop.report.dispatches import DispatchFact
from outcrop.report.tokens import AgentTokens

_TICKS = 5
_LABELS_CHARS = 44
"""So many characters of labels stand side by side on a phone, with room between them."""
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS = (
    *(count * _MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * _HOUR for count in (1, 2, 3, 6, 12)),
    *(count * _DAY for count in (1, 2, 7, 14, 28, 91)),
)
"""What clocks and calendars are read by, in seconds; below a minute and beyond a quarter tens do."""
_LEAST_SHARE = 0.4
ROW, TOP, BOTTOM = 36, 4, 24
CHART_HEIGHT = 220


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Bar:
    """One dispatch: where it begins, how wide it is (percent), how far down (pixels)."""

    fact: DispatchFact
    x: float
    width: float
    y: int

    @property
    def label_x(self) -> float:
        return self.x if self.is_label_right else self.x + self.width

    @property
    def is_label_right(self) -> bool:
        """Whether its label begins where it begins; otherwise it ends where the bar ends."""
        return self.x <= 50


@dataclass(frozen=True)
class Timeline:
    """Dispatches over time. `turns` are those of the lead, in percent."""

    bars: Sequence[Bar]
    turns: Sequence[float]
    ticks: Sequence[Tick]
    height: int

    @property
    def base(self) -> int:
        """Where the axis lies."""
        return self.height - BOTTOM


def timeline_of(dispatches: Sequence[DispatchFact], turns: Sequence[float], seconds: float | None) -> Timeline:
    """A row for the lead where it has turns, then one for each dispatch in the order they began."""
    ends = [fact.begun + (fact.seconds or 0.0) for fact in dispatches]
    whole = max([seconds or 0.0, *ends, *turns, 0.001])
    offset = TOP + (ROW if turns else 0)
    bars = []
    for row, fact in enumerate(dispatches):
        x = 100 * fact.begun / whole
        length = fact.seconds if fact.seconds is not None else whole - fact.begun
        width = min(100 - x, max(_LEAST_SHARE, 100 * length / whole))
        bars.append(
            Bar(fact, round(min(x, 100 - _LEAST_SHARE), 3), round(max(width, _LEAST_SHARE), 3), offset + row * ROW)
        )
    ticks = [Tick(round(100 * at / whole, 3), label) for at, label in times_to(whole).items()]
    marks = [round(100 * turn / whole, 3) for turn in turns]
    return Timeline(bars, marks, ticks, offset + len(bars) * ROW + BOTTOM)


def ticks_to(whole: float) -> list[float]:
    """Round numbers from 0 to at most `whole`, about five of them."""
    if not whole > 0 or not math.isfinite(whole):
        return [0.0]
    size = 10 ** math.floor(math.log10(whole / _TICKS))
    step = next(factor * size for factor in (1, 2, 5, 10) if whole / (factor * size) <= _TICKS + 1)
    return [number * step for number in range(int(whole / step * (1 + 1e-9)) + 1)]


def times_to(whole: float) -> dict[float, str]:
    """Times from 0 to at most `whole` that a clock or a calendar has with their labels, as many as have room."""
    none = {0.0: time_text(0.0, 1.0)}
    if not whole > 0 or not math.isfinite(whole):
        return none
    days = (count * 10**power * _DAY for power in range(2, 308) for count in (1, 2, 5))
    steps = chain(_STEPS, days) if whole > 2 * _MINUTE else _below_a_minute(whole)
    for step in steps:
        times = [number * step for number in range(int(min(whole / step * (1 + 1e-9), _LABELS_CHARS)) + 1)]
        labels = {at: time_text(at, step) for at in times}
        if sum(len(label) + 2 for label in labels.values()) <= _LABELS_CHARS or len(times) <= 2:
            return labels
    return none


def _below_a_minute(whole: float) -> Iterator[float]:
    size = 10 ** math.floor(math.log10(whole / _LABELS_CHARS))
    while True:
        yield from (factor * size for factor in (1, 2, 5))
        size *= 10


def time_text(seconds: float, step: float) -> str:
    """The label of a tick, in the unit of the steps: `1.5 s`, `10 min`, `3 h`, `12 d`."""
    for length, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds and step % length == 0:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.3g} s"


def seconds_text(seconds: float) -> str:
    """`1.5 s`, `12 min 30 s`, `3 h 5 min`."""
    if seconds < 100:
        return f"{seconds:.3g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 6_000:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s".removesuffix(" 0 s")
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min".removesuffix(" 0 min")


@dataclass(frozen=True)
class Block:
    """A part of a column: percent of width and height from the left and the top."""

    segment: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class TokenChart:
    """Columns of segments for the requests of one agent."""

    agent: AgentTokens
    blocks: Sequence[Block]
    ticks: Sequence[Tick]
    window: float | None
    """How far down the model's window is, where that is within the chart."""


def token_chart(agent: AgentTokens) -> TokenChart:
    """A column a request, its segments from the bottom up in their order."""
    most = max(agent.most, 1)
    whole = agent.window if most <= agent.window <= 1.6 * most else most * 1.05
    share = 100 / max(len(agent.steps), 1)
    gap = min(share * 0.2, 1.0)
    blocks = []
    for place, step in enumerate(agent.steps):
        y = 100.0
        for segment in agent.segments:
            height = 100 * step.segments.get(segment, 0) / whole  # type: ignore[call-overload]
            y -= height
            if height:
                # A few requests would make columns as wide as a hand.
                width = min(share - gap, 8.0)
                x = place * share + (share - width) / 2
                blocks.append(Block(segment, round(x, 3), round(y, 3), round(width, 3), round(height, 3)))
    ticks = [Tick(round(100 - 100 * at / whole, 3), f"{at:,.0f}") for at in ticks_to(whole)]
    window = round(100 - 100 * agent.window / whole, 3) if 0 < agent.window <= whole else None
    return TokenChart(agent, blocks, ticks, window)
