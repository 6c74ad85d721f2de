"""The options of the command, and the comparison that they choose."""

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from bench.corpora import CORPORA
from bench.experiments.plan import ENCODINGS, OBJECTIVES, SYSTEMS, Choice, Limits

QUICK = Choice(limits=Limits(seconds=1.0, megabytes=1000.0))
"""What `--quick` compares, on one tiny document of each dataset."""
QUICK_SCALE = 0.08


def make_parser(description: str) -> argparse.ArgumentParser:
    """Return the parser of all options."""
    parser = argparse.ArgumentParser(prog="python -m bench.experiments", description=description)
    add = parser.add_argument
    datasets = (
        f"{', '.join(CORPORA)} (generated), or a folder with a folder of annotators' files per document"
    )
    add("datasets", nargs="*", default=list(CORPORA), help=datasets)
    add("--out", type=Path, help="folder for documents, results, table and plots; default: a new one")
    add("--quick", action="store_true", help="one tiny document of each dataset, 1 s and 1 GB a run")
    add("--seed", type=int, default=1, help="seed of generated documents; default: 1")
    add("--scale", type=_positive, help="size of generated documents; default: 1, the paper's")
    add("--jobs", type=_count, default=1, help="how many runs at a time; default: 1 (the paper: 7)")
    add("--tables", action="store_true", help="make no runs, only table and plots of what there is")
    _add_choices(parser)
    _add_limits(parser)
    return parser


def _add_choices(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    add("--encodings", nargs="+", choices=ENCODINGS, default=ENCODINGS)
    add("--objectives", nargs="+", choices=OBJECTIVES, default=OBJECTIVES)
    relevant = "only what the paper's eight scenarios are: u and ua on ds1, v and va on ds2"
    add("--scenarios", action="store_true", help=relevant)
    add("--repeat", type=_count, default=1, help="how often to make every run; default: 1 (the paper: 5)")
    redo = "make runs of these systems again where their source has changed since"
    add("--redo", nargs="+", choices=SYSTEMS, default=[], help=redo)
    share = "run a system on this share of the documents only, spread over all sizes"
    add("--share", nargs="+", type=_for_system, default=[], metavar="SYSTEM=SHARE", help=share)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--time-limit", type=_positive, help="seconds of processor time for a run; default: 300")
    add("--memory-limit", type=_positive, help="megabytes for all processes of a run; default: 5000")
    own = "the time limit of one system"
    add("--limit", nargs="+", type=_for_system, default=[], metavar="SYSTEM=SECONDS", help=own)


def _positive(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"found '{text}', expected a number above 0")
    return number


def _count(text: str) -> int:
    """Read a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a whole number above 0")
    return int(text)


def _for_system(text: str) -> tuple[str, float]:
    """Read SYSTEM=NUMBER."""
    system, _, number = text.partition("=")
    if system not in SYSTEMS:
        raise argparse.ArgumentTypeError(f"found '{text}', expected SYSTEM=NUMBER, such as clingo=60")
    return system, _positive(number)


def read_choice(given: argparse.Namespace) -> Choice:
    """Return what the options choose to compare."""
    choice = QUICK if given.quick else Choice()
    limits = Limits(given.time_limit or choice.limits.seconds, given.memory_limit or choice.limits.megabytes)
    return replace(
        choice,
        systems=[system for system in given.systems if _is_there(system)],
        encodings=given.encodings,
        objectives=given.objectives,
        repetitions=given.repeat,
        limits=limits,
        seconds=dict(given.limit),
        shares=dict(given.share),
        scenarios=given.scenarios,
    )


def read_scale(given: argparse.Namespace) -> float:
    """Return the size of generated documents."""
    return float(given.scale or (QUICK_SCALE if given.quick else 1.0))


def _is_there(system: str) -> bool:
    if system == "gringo-wasp" and shutil.which("wasp") is None:
        print(
            "gringo-wasp is left out: found no program 'wasp' on PATH, expected WASP 2 (build it from its "
            "source repository, alviano/wasp on GitHub, and put build/release/wasp on PATH)",
            file=sys.stderr,
        )
        return False
    return True
