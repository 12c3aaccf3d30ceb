"""The look of every figure, and the door through which one is saved: re-opened and checked before it is reported.

No pyplot and no rcParams: both are global, and tools may run side by side.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from outcrop_schemas.errors import DataError
from outcrop_schemas.protocol import Artifact
from outcrop_specialists.tools.base import Tool, ToolContext
from outcrop_specialists.tools.publish import publish

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from outcrop_specialists.reading.tables import Table

DOTS_PER_INCH = 150
SIZE_INCHES = (8.0, 6.0)
TALL_INCHES = (6.0, 8.0)
LARGE_INCHES = (10.0, 8.0)

# Okabe & Ito (2008), colours told apart under every common colour-blindness; yellow, weak on white, comes last.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
OTHER_COLOUR = "#7F7F7F"
NO_VALUE_COLOUR = "#BDBDBD"
CONTINUOUS_MAP = "viridis"

# A figure with only axes and text is grey; drawn data has colour. Below so many coloured pixels it is called blank.
COLOURED_PIXELS = 8
PAD_INCHES = 0.09
LABEL_CHARS = 44
# Factors between the ends of a log axis: below the first it may show no decade at all.
EVEN_STEPS_BELOW = 6.0
DECADES_ONLY_FROM = 150.0
TITLE_CHARS = 78


@dataclass(frozen=True)
class Drawn:
    """A figure in place, with its size as measured in the file."""

    artifact: Artifact
    width_px: int
    height_px: int
    notes: list[str]

    def size(self) -> dict[str, int]:
        return {"width_px": self.width_px, "height_px": self.height_px}


def new_figure(title: str, size_inches: tuple[float, float] = SIZE_INCHES) -> Figure:
    """An empty figure on the Agg canvas whose layout keeps labels and legends inside."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=PAD_INCHES, h_pad=PAD_INCHES)
    figure = Figure(figsize=size_inches, dpi=DOTS_PER_INCH, layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    figure.suptitle(plain(title, TITLE_CHARS), fontsize=12)
    return figure


def style_axes(axes: Axes) -> None:
    """Thin grey frame and grid behind the data, open at the top and right; no offset at ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#666666")
    axes.grid(True, color="#E4E4E4", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=9, color="#666666")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
        axis.label.set_fontsize(10)


def set_log(axis: Axis, low: float, high: float) -> None:
    """A log10 axis with plain numbers: decades, within two decades also 2 and 5, within less even steps."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    set_scale(axis, "log")
    times = high / low
    if times < EVEN_STEPS_BELOW:
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    else:
        steps = (1.0, 2.0, 5.0) if times < DECADES_ONLY_FROM else (1.0,)
        axis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
    axis.set_minor_locator(LogLocator(base=10, subs=[float(step) for step in range(1, 10)], numticks=12))
    axis.set_minor_formatter(NullFormatter())


def set_scale(axis: Axis, name: Literal["linear", "log"]) -> None:
    """Set the scale of one axis, whichever it is."""
    axes = axis.axes
    (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)(name)


def number_text(value: float) -> str:
    """A tick's number as people write it: −0.05, 1200, 450000, 2e7."""
    return short_number(value).replace("-", "−")


def short_number(value: float) -> str:
    """A number with at most seven digits, without an exponent unless it is very large or small."""
    text = f"{value:.7g}"
    if 1e-4 <= abs(value) < 1e7:
        text = f"{float(text):.10f}".rstrip("0").rstrip(".")
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else text


def plain(text: str, chars: int = LABEL_CHARS, lines: int = 2) -> str:
    """Text out of data, wrapped and cut, with `$` kept from starting a formula."""
    flat = " ".join(text.split())
    wrapped = textwrap.wrap(flat, chars) or [""]
    if len(wrapped) > lines:
        wrapped[lines - 1 :] = [wrapped[lines - 1][: chars - 2] + " …"]
    return "\n".join(wrapped).replace("$", r"\$")


def with_unit(name: str, unit: str | None) -> str:
    """A column's name and, where known and not in the name already, its unit."""
    has_unit = not unit or f"({unit.casefold()})" in name.casefold()
    return name if has_unit else f"{name} ({unit})"


def axis_label(name: str, unit: str | None = None) -> str:
    """Name and unit as an axis shows them."""
    return plain(with_unit(name, unit))


def write_note(figure: Figure, text: str) -> None:
    """A small line at the foot of the figure: what was drawn and what was left out."""
    width = int(figure.get_figwidth() * 17)
    figure.supxlabel(plain(text, width), fontsize=8, color="#555555", x=0.01, ha="left")


def publish_figure(
    context: ToolContext, tool: Tool, table: Table, parameters: dict[str, Any], figure: Figure, title: str
) -> Drawn:
    """Save, check and publish a figure. Raises DataError where the saved file is not what was drawn."""
    context.report("saving the figure")
    published = publish(
        context,
        tool,
        [table.path],
        parameters,
        extension="png",
        kind="plot",
        title=title,
        write=lambda path: _save(figure, path),
    )
    width, height = check(published.path)
    return Drawn(published.artifact, width, height, _missing_glyphs(figure))


def check(path: Path) -> tuple[int, int]:
    """Width and height in pixels of a saved figure. Raises DataError where it cannot be opened or shows no data."""
    from matplotlib.image import imread

    try:
        pixels = imread(path, format="png")[..., :3]
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(f"{path.name}: the saved figure cannot be opened again: {error}") from error
    height, width = pixels.shape[:2]
    is_coloured = (pixels.max(axis=2) - pixels.min(axis=2)) > 0.1
    if is_coloured.sum() < COLOURED_PIXELS:
        raise DataError(f"{path.name}: the saved figure shows no data")
    return int(width), int(height)


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="png", dpi=DOTS_PER_INCH)
    width, height = check(path)
    expected = tuple(round(inches * DOTS_PER_INCH) for inches in figure.get_size_inches())
    if (width, height) != expected:
        raise DataError(f"the saved figure is {width} x {height} px instead of {expected[0]} x {expected[1]} px")


def _missing_glyphs(figure: Figure) -> list[str]:
    """A note where the font has no sign for characters of the data: they come out as boxes."""
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.text import Text

    font = get_font(findfont("DejaVu Sans"))
    texts = "".join(artist.get_text() for artist in figure.findobj(Text) if isinstance(artist, Text))
    missing = sorted({sign for sign in texts if sign > " " and not font.get_char_index(ord(sign))})
    shown = "".join(missing[:20])
    return [f"the figure's font lacks {len(missing)} characters, drawn as boxes: {shown}"] if missing else []
