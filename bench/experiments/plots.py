"""Plots of the runs: cactus, native against clingo, and growth with the size of documents.

cactus    how many runs are proven optimal within a time, a line for each system and encoding
scatter   the same document and objective with clingo (across) and natively (up)
growth    time by number of distinct mentions, a panel for each objective

Runs without a proof are drawn at their limit, as hollow marks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from bench.experiments.plan import NO_ENCODING, OBJECTIVES, SYSTEMS
from bench.experiments.run import Record
from bench.experiments.table import NATIVE, choose_reference, place

COLOURS = {"native": "#0b6e4f", "clingo": "#1f4e9c", "gringo-clasp": "#c4641a", "gringo-wasp": "#8a2f6b"}
STYLES = {NO_ENCODING: "-", "mm": "--", "cm": ":"}
MARKS = {NO_ENCODING: "o", "mm": "s", "cm": "^"}
SETTINGS: Any = {
    "svg.hashsalt": "experiments",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
}
"""The same runs give the same bytes, and text stays text."""


def write_plots(records: Sequence[Record], folder: Path) -> Iterator[Path]:
    """Draw what there are runs for, as SVG and PNG; yield the files."""
    with mpl.rc_context(rc=SETTINGS):
        for name, draw in PLOTS.items():
            figure = draw(records)
            if figure is None:
                continue
            for suffix in ("svg", "png"):
                path = folder / f"{name}.{suffix}"
                figure.savefig(path, metadata={"Date": None} if suffix == "svg" else None, dpi=150)
                yield path


def cactus(records: Sequence[Record]) -> Figure | None:
    """Draw how long each system and encoding needs to prove a number of runs, on the documents all have."""
    lines = _lines(records)
    documents = [{place(record) for record in runs} for runs in lines.values()]
    shared = set.intersection(*documents) if documents else set()
    if not shared:
        return None
    figure, [axes] = _panels(1, width=7.6)
    for (system, encoding), runs in lines.items():
        solved = sorted(r.seconds for r in runs if r.outcome == "OPT" and place(r) in shared)
        axes.plot(
            range(1, len(solved) + 1),
            solved,
            *(STYLES[encoding],),
            color=COLOURS[system],
            marker=".",
            label=f"{_name(system, encoding)} ({len(solved)})",
        )
    asked = max(sum(place(record) in shared for record in runs) for runs in lines.values())
    axes.set(yscale="log", xlim=(0, asked + 1), ylabel="seconds of processor time")
    axes.set_xlabel(f"runs proven optimal, of {asked} ({len(shared)} documents)")
    figure.legend(frameon=False, loc="outside right upper")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _plain(axes.yaxis)
    return figure


def scatter(records: Sequence[Record]) -> Figure | None:
    """Draw the time of the native engine over that of clingo for the same document and objective."""
    natives = {(*place(r), r.objective, r.repetition): r for r in records if r.system == NATIVE}
    figure, [axes] = _panels(1, width=5.2)
    pairs = [
        (other, natives[key])
        for other in records
        if other.system == "clingo" and (key := (*place(other), other.objective, other.repetition)) in natives
    ]
    if not pairs:
        return None
    for encoding in ("mm", "cm"):
        for proven in (True, False):
            chosen = [(c, n) for c, n in pairs if c.encoding == encoding and _proven(c, n) is proven]
            axes.scatter(
                [clingo.seconds for clingo, _ in chosen],
                [native.seconds for _, native in chosen],
                s=16,
                marker=MARKS[encoding],
                facecolors=COLOURS["clingo" if encoding == "mm" else "gringo-clasp"] if proven else "none",
                edgecolors=COLOURS["clingo" if encoding == "mm" else "gringo-clasp"],
                label=f"{encoding.upper()}, {'both proven' if proven else 'one not proven'} ({len(chosen)})",
            )
    times = [run.seconds for pair in pairs for run in pair]
    ends = (min(times) / 1.3, max(times) * 1.3)
    axes.plot(ends, ends, color="grey", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set(xlabel="clingo: seconds of processor time", ylabel="native: seconds of processor time")
    axes.legend(frameon=False, loc="upper left")
    for axis in (axes.xaxis, axes.yaxis):
        _plain(axis)
    return figure


def growth(records: Sequence[Record]) -> Figure | None:
    """Draw time over distinct mentions for the native engine and the reference system."""
    sizes = {place(record): record.mentions for record in records if record.mentions}
    systems = (NATIVE, choose_reference(records))
    shown = [record for record in records if record.system in systems and place(record) in sizes]
    objectives = [one for one in OBJECTIVES if any(record.objective == one for record in shown)]
    if not shown:
        return None
    figure, panels = _panels(len(objectives), width=2.6 * len(objectives) + 0.8)
    for axes, objective in zip(panels, objectives, strict=True):
        for (system, encoding), runs in _lines(shown).items():
            chosen = [record for record in runs if record.objective == objective]
            _dots(axes, chosen, sizes, system, encoding)
        axes.set(xscale="log", yscale="log", title=objective.upper(), xlabel="distinct mentions")
        for axis in (axes.xaxis, axes.yaxis):
            _plain(axis)
    panels[0].set_ylabel("seconds of processor time")
    panels[0].legend(frameon=False, loc="upper left")
    return figure


def _dots(
    axes: Axes,
    runs: Sequence[Record],
    sizes: dict[tuple[str, str], int],
    system: str,
    encoding: str,
) -> None:
    for proven in (True, False):
        chosen = [record for record in runs if (record.outcome == "OPT") is proven]
        axes.scatter(
            [sizes[place(record)] for record in chosen],
            [record.seconds for record in chosen],
            s=12,
            marker=MARKS[encoding],
            facecolors=COLOURS[system] if proven else "none",
            edgecolors=COLOURS[system],
            label=_name(system, encoding) if proven else None,
        )


def _proven(*runs: Record) -> bool:
    return all(run.outcome == "OPT" for run in runs)


def _lines(records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """Sort runs by system and encoding, in the order of the systems."""
    lines: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: SYSTEMS.index(record.system)):
        lines[record.system, record.encoding].append(record)
    return lines


def _name(system: str, encoding: str) -> str:
    return system if encoding == NO_ENCODING else f"{system} {encoding.upper()}"


def _plain(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers at 1, 2, 5, 10, ..."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _panels(count: int, *, width: float) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, 3.8), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False, sharey=True)
    return figure, list(axes[0])


PLOTS: dict[str, Callable[[Sequence[Record]], Figure | None]] = {
    "cactus": cactus,
    "scatter": scatter,
    "growth": growth,
}
"""Every plot by name."""
