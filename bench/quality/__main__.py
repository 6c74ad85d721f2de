"""Score adjudications against a gold standard, beside single annotators and simpler ways to merge them."""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpora import CORPORA
from bench.quality.calibration import calibrate, calibration_table
from bench.quality.held_back import chosen, halves, held_back
from bench.quality.judged import JudgedSet, cut, read_set
from bench.quality.responses import LEARN, Response, adjudicated, baselines
from bench.quality.scoring import compare, score_documents
from bench.quality.simulated import simulate
from bench.quality.table import Row, to_markdown

SETTINGS = ("objective=v", "objective=va", "objective=u", "objective=ua")
"""What is compared unless settings are given."""
QUICK_SCALE = 0.15
QUICK_DOCUMENTS = 2


def judge(judged: JudgedSet, responses: Sequence[Response], *, baseline: str) -> Iterator[Row]:
    """Yield the row of each response; the baseline is the response that others are compared with."""
    without = {
        one.name: score_documents(judged.documents, one.answers, singletons=False) for one in responses
    }
    for one in responses:
        scored = without[one.name]
        both = score_documents(judged.documents, one.answers, singletons=True)
        against = None if one.name == baseline else compare(scored, without[baseline])
        yield Row(judged.name, one.name, scored, both, against, one.proven)


def main(words: Sequence[str] | None = None) -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    add = parser.add_argument
    add("datasets", nargs="*", default=list(CORPORA), help=f"{', '.join(CORPORA)}, or folders with a gold")
    add(
        "--set",
        action="append",
        metavar="NAME=VALUE,...",
        help="settings to try; '' is the defaults",
    )
    add(
        "--baseline",
        metavar="RESPONSE",
        help="what others are compared with; default: the first settings",
    )
    add("--no-baselines", action="store_true", help="only the settings, not annotators and simpler merging")
    add("--crowd", action="store_true", help="also Dawid-Skene and MACE (pip install '.[bench]')")
    add("--cut", type=float, metavar="PERCENT", help="leave each annotator so much of every document")
    add(
        "--held-back",
        action="store_true",
        help="also learn weights, and choose settings, on one half of the documents for the other half",
    )
    add("--simulate", metavar="PERCENT,...", help="annotators made from the gold with these error rates")
    add("--documents", type=int, help="how many documents of each dataset, over all sizes; default: all")
    add("--time-limit", type=float, default=10, help="seconds for each adjudication; default: 10")
    add("--seed", type=int, default=1)
    add("--scale", type=float)
    add("--quick", action="store_true", help="two tiny documents of each dataset")
    add("--calibration", action="store_true", help="how often decisions are wrong, by their votes, instead")
    given = parser.parse_args(words)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for source in given.datasets:
            judged = _read(source, Path(folder), given)
            if given.calibration:
                for settings in given.set or [""]:
                    table = calibrate(judged, settings, seconds=given.time_limit, seed=given.seed)
                    print(*calibration_table(f"{judged.name}, {settings or 'defaults'}", table), "", sep="\n")
            else:
                rows += _judged(judged, given)
    if rows:
        print(*to_markdown(rows), sep="\n")


def _read(source: str, folder: Path, given: argparse.Namespace) -> JudgedSet:
    scale = given.scale or (QUICK_SCALE if given.quick else 1.0)
    most = QUICK_DOCUMENTS if given.quick else given.documents
    judged = read_set(source, folder=folder, seed=given.seed, scale=scale, most=most)
    if given.simulate is not None:
        judged = simulate(judged, [float(rate) / 100 for rate in given.simulate.split(",")], given.seed)
    if given.cut is not None:
        judged = cut(judged, given.cut / 100)
    return judged


def _judged(judged: JudgedSet, given: argparse.Namespace) -> Iterator[Row]:
    responses = [] if given.no_baselines else list(baselines(judged, crowd=given.crowd))
    responses += _answered(judged, given)
    names = [one.name for one in responses]
    baseline = given.baseline or (given.set or SETTINGS)[0] or "defaults"
    if baseline not in names:
        raise SystemExit(f"--baseline: found '{baseline}', expected one of {', '.join(names)}")
    yield from judge(judged, responses, baseline=baseline)


def _answered(judged: JudgedSet, given: argparse.Namespace) -> Iterator[Response]:
    """Adjudicate with each of the settings, also with what was held back."""
    both = halves(judged, given.seed)
    found = []
    for words in given.set or SETTINGS:
        print(f"{judged.name}: {words or 'defaults'}", file=sys.stderr, flush=True)
        found.append(adjudicated(judged, words, seconds=given.time_limit))
        if given.held_back and LEARN in words:
            found.append(held_back(both, words, seconds=given.time_limit))
    yield from found
    if given.held_back:
        yield chosen(both, found)


if __name__ == "__main__":
    main()
