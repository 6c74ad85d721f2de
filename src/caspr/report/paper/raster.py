"""Drawings as PNG and PDF, by matplotlib, which is an optional package.

The files hold no date and no name of a program, so that the same drawing has the same bytes.
"""

import io
from typing import TYPE_CHECKING

from caspr.errors import InputError
from caspr.report.paper.drawing import MARGIN, Box, Drawing, Shape, Stroke, svg_text
from caspr.text.printable import printable

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
        raise InputError(f"{name}: found no kind of figure in the name, expected one of {' '.join(SUFFIXES)}")
    if suffix != ".svg":
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise InputError(
                f"{name}: found no matplotlib, which draws {suffix} files; expected that it is installed "
                "(pip install matplotlib), or a name that ends in .svg, which needs nothing"
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
