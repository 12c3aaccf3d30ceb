"""The geometry of the charts: shares of a width in percent, so that they fit a phone and a desk without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from outcrop.report.dispatches import DispatchFact
from outcrop.report.tokens import AgentTokens

_TICKS = 5
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
    ticks = [Tick(round(100 * at / whole, 3), seconds_text(at)) for at in ticks_to(whole)]
    marks = [round(100 * turn / whole, 3) for turn in turns]
    return Timeline(bars, marks, ticks, offset + len(bars) * ROW + BOTTOM)


def ticks_to(whole: float) -> list[float]:
    """Round numbers from 0 to at most `whole`, about five of them."""
    if not whole > 0 or not math.isfinite(whole):
        return [0.0]
    size = 10 ** math.floor(math.log10(whole / _TICKS))
    step = next(factor * size for factor in (1, 2, 5, 10) if whole / (factor * size) <= _TICKS + 1)
    return [number * step for number in range(int(whole / step * (1 + 1e-9)) + 1)]


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
