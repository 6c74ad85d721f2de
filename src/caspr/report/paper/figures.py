"""Figures as shapes: rectangles, lines and words at places, in pixels from the upper left corner.

A figure is laid out once. It is written as SVG, which any browser and most word processors show and which
needs no further package, or drawn by matplotlib, an optional package, as PNG or PDF. These hold no date and
no name of a program, so that the same drawing has the same bytes.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

from caspr.errors import InputError
from caspr.measures.intervals import Interval
from caspr.text.findings import printable

INK, SOFT, LINE, BAR = "#1b1b1b", "#595959", "#b0b0b0", "#2b6cb0"
"""Colours of words, soft words, lines and bars."""
CHARACTER = 6.6
"""How wide a character of usual size is, on average."""
MARGIN = 10
"""How much room there is around a drawing."""
CHART_WIDTH = 560
LONGEST = 24
"""How many characters of a name are shown."""


@dataclass(frozen=True)
class Box:
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    fill: str


@dataclass(frozen=True)
class Stroke:
    """A line."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: str = INK


@dataclass(frozen=True)
class Words:
    """Text on one line, at the height of its base line."""

    x: float
    """Where it begins, has its middle or ends."""
    y: float
    text: str
    anchor: str = "start"
    """Whether `x` is its `start`, `middle` or `end`."""
    colour: str = INK
    size: float = 12


Shape = Box | Stroke | Words


@dataclass(frozen=True)
class Drawing:
    """A figure."""

    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]
    """What is in it; later shapes are above earlier ones."""

    def moved(self, x: float, y: float) -> tuple[Shape, ...]:
        """Return the shapes at another place."""
        return tuple(_moved(shape, x, y) for shape in self.shapes)


def _moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Stroke):
        return replace(shape, x=shape.x + x, y=shape.y + y, to_x=shape.to_x + x, to_y=shape.to_y + y)
    return replace(shape, x=shape.x + x, y=shape.y + y)


def below(title: str, drawings: Sequence[Drawing], gap: float = 28) -> Drawing:
    """Put drawings below each other."""
    shapes: list[Shape] = []
    y = 0.0
    for drawing in drawings:
        shapes += drawing.moved(0, y)
        y += drawing.height + gap
    return Drawing(title, max(drawing.width for drawing in drawings), y - gap, tuple(shapes))


def svg_text(drawing: Drawing) -> str:
    """Return a drawing as SVG."""
    width, height = f"{drawing.width + 2 * MARGIN:g}", f"{drawing.height + 2 * MARGIN:g}"
    corner = f'x="{-MARGIN}" y="{-MARGIN}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{-MARGIN} {-MARGIN} {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(printable(drawing.title))}</title>",
        f'<rect {corner} width="{width}" height="{height}" fill="#ffffff"/>',
        *map(_element, drawing.shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _element(shape: Shape) -> str:
    if isinstance(shape, Box):
        return (
            f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" '
            f'height="{shape.height:.1f}" fill="{shape.fill}"/>'
        )
    if isinstance(shape, Stroke):
        return (
            f'<line x1="{shape.x:.1f}" y1="{shape.y:.1f}" x2="{shape.to_x:.1f}" y2="{shape.to_y:.1f}" '
            f'stroke="{shape.colour}"/>'
        )
    return (
        f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" fill="{shape.colour}" '
        f'text-anchor="{shape.anchor}">{escape(printable(shape.text))}</text>'
    )


def name_width(names: Sequence[str]) -> float:
    """Return how much room names need."""
    return 12 + CHARACTER * max(min(LONGEST, len(name)) for name in names)


def short(name: str) -> str:
    """Return a name, cut where it is too long."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


@dataclass(frozen=True)
class MeasuredBar:
    """A bar of a diagram."""

    name: str
    value: float | None
    """How long it is, from 0 to 1; `None` where that is undefined."""
    label: str
    bounds: Interval | None = None


def bar_chart(title: str, bars: Sequence[MeasuredBar]) -> Drawing:
    """Draw numbers from 0 to 1 as bars, with whiskers for their intervals."""
    left = name_width([bar.name for bar in bars])
    long = CHART_WIDTH - left - 60
    shapes: list[Shape] = [Words(0, 14, title, size=13)]
    for row, bar in enumerate(bars):
        y = 26 + 22 * row
        shapes.append(Words(left - 8, y + 12, short(bar.name), "end"))
        value = max(0.0, bar.value or 0.0)
        shapes.append(Box(left, y, long * value, 16, BAR))
        end = value
        if bar.bounds is not None:
            low, high = (left + long * max(0.0, bound) for bound in bar.bounds)
            shapes += [Stroke(low, y + 8, high, y + 8), Stroke(low, y + 4, low, y + 12)]
            shapes.append(Stroke(high, y + 4, high, y + 12))
            end = max(value, bar.bounds.high)
        shapes.append(Words(left + long * end + 6, y + 12, bar.label, colour=SOFT))
    bottom = 26 + 22 * len(bars)
    shapes.append(Stroke(left, 22, left, bottom, LINE))
    return Drawing(title, CHART_WIDTH, bottom + 4, tuple(shapes))


def stacked_chart(
    title: str, names: Sequence[str], parts: Sequence[tuple[str, str, Sequence[float]]]
) -> Drawing:
    """Draw numbers that add up as bars of several colours: for each part its name, colour, and lengths."""
    left = name_width(names)
    sums = [sum(lengths[row] for _, _, lengths in parts) for row in range(len(names))]
    long = (CHART_WIDTH - left - 60) / (max(sums) or 1)
    shapes: list[Shape] = [Words(0, 14, title, size=13)]
    for row, name in enumerate(names):
        x, y = left, 26 + 22 * row
        shapes.append(Words(left - 8, y + 12, short(name), "end"))
        for _, colour, lengths in parts:
            shapes.append(Box(x, y, long * lengths[row], 16, colour))
            x += long * lengths[row]
        shapes.append(Words(x + 6, y + 12, f"{sums[row]:,.1f}", colour=SOFT))
    y = 26 + 22 * len(names)
    shapes.append(Stroke(left, 22, left, y, LINE))
    for number, (name, colour, _) in enumerate(parts):
        column, line = number % 2, number // 2
        shapes.append(Box(left + 220 * column, y + 12 + 18 * line, 11, 11, colour))
        shapes.append(Words(left + 220 * column + 17, y + 22 + 18 * line, name))
    return Drawing(title, max(CHART_WIDTH, left + 440), y + 14 + 18 * ((len(parts) + 1) // 2), tuple(shapes))


def heat_map(
    title: str, names: Sequence[str], cells: Sequence[Sequence[tuple[float | None, str]]]
) -> Drawing:
    """Draw a matrix: for each cell its number from 0 to 1, which is its colour, and its words."""
    left = name_width(names)
    step = max(56.0, left)
    shapes: list[Shape] = [Words(0, 14, title, size=13)]
    for column, name in enumerate(names):
        shapes.append(Words(left + step * (column + 0.5), 36, short(name), "middle"))
    for row, (name, line) in enumerate(zip(names, cells, strict=True)):
        y = 44 + 30 * row
        shapes.append(Words(left - 8, y + 19, short(name), "end"))
        for column, (number, words) in enumerate(line):
            shapes.append(Box(left + step * column, y, step - 2, 28, _shade(number)))
            ink = "#ffffff" if (number or 0) > 0.85 else INK
            shapes.append(Words(left + step * (column + 0.5), y + 18, words, "middle", ink))
    return Drawing(title, max(300, left + step * len(names)), 46 + 30 * len(names), tuple(shapes))


def _shade(number: float | None) -> str:
    """Return the colour of a number from 0 (white) to 1 (blue)."""
    if number is None:
        return "#f0f0f0"
    share = max(0.0, min(1.0, number))
    return "#" + "".join(f"{round(255 + (full - 255) * share):02x}" for full in (0x2B, 0x6C, 0xB0))


if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".pdf")
"""The files that figures can be written to, by their endings."""
PIXELS = 96
"""How many pixels of a drawing are an inch."""
_NOTHING: dict[str, dict[str, None]] = {
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "png": {"Software": None},
}
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def refuse_figure(name: str) -> None:
    """Refuse a file name of no known kind, or of a kind that needs a package which is missing."""
    suffix = _suffix(name)
    if suffix not in SUFFIXES:
        raise InputError(f"{name}: the name of a figure must end in one of {' '.join(SUFFIXES)}")
    if suffix != ".svg":
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"{name}: {suffix} files need matplotlib: pip install 'caspr[plot]'; .svg files need nothing"
            ) from error


def figure_content(drawing: Drawing, name: str) -> str | bytes:
    """Return the content of a figure file, of the kind that its name says."""
    suffix = _suffix(name)
    return svg_text(drawing) if suffix == ".svg" else _drawn(drawing, suffix[1:])


def _suffix(name: str) -> str:
    return f".{name.rpartition('.')[2].lower()}" if "." in name else ""


def _drawn(drawing: Drawing, kind: str) -> bytes:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"pdf.fonttype": 42, "font.family": "sans-serif"}):
        width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
        figure = Figure(figsize=(width / PIXELS, height / PIXELS))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(-MARGIN, width - MARGIN)
        axes.set_ylim(height - MARGIN, -MARGIN)
        axes.axis("off")
        for shape in drawing.shapes:
            _put(axes, shape)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=2 * PIXELS, metadata=_NOTHING[kind])
    return buffer.getvalue()


def _put(axes: "Axes", shape: Shape) -> None:
    from matplotlib.patches import Rectangle

    if isinstance(shape, Box):
        axes.add_patch(
            Rectangle((shape.x, shape.y), shape.width, shape.height, color=shape.fill, linewidth=0)
        )
    elif isinstance(shape, Stroke):
        axes.plot([shape.x, shape.to_x], [shape.y, shape.to_y], color=shape.colour, linewidth=0.8)
    else:
        axes.text(
            shape.x,
            shape.y,
            printable(shape.text),
            ha=_ANCHORS[shape.anchor],
            va="baseline",
            color=shape.colour,
            fontsize=shape.size * 72 / PIXELS,
            parse_math=False,
        )
