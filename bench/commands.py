"""What files, long texts, small documents and clicks cost beside the search: rows for `bench.performance`.

Everything is what a user sees: whole commands from files to files, and a page that is asked by HTTP or
opened in the system's browser. Ratios are of processor time within one run, the best of several where runs
are short.
"""

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import corpus, review
from bench.browser import browser, find_browser, served
from bench.corpora import make_document, novel, save
from bench.crowds import READING, Row, child

SPLITTING = """import sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        rows = [line.split("\\t") for line in file.read().split("\\n")]
"""
"""A program that does the least that a reader of columns must do."""
TIMED = """import sys, time
{imports}
def work():
{body}
work()
seconds = []
for _ in range(5):
    started = time.process_time()
    work()
    seconds.append(time.process_time() - started)
print(min(seconds))
"""


def reading_rows(folder: Path, acts: Path | None, *, quick: bool) -> Iterator[Row]:
    """Compare reading files to splitting their lines, both after start-up."""
    documents = {"the novel": novel_files(folder, quick=quick)}
    if acts is not None:
        documents["the acts"] = sorted(acts.glob("*/*.conll"))
    for name, files in documents.items():
        ratio = seconds_of(READING, files) / seconds_of(SPLITTING, files)
        yield f"reading CoNLL, {name}, against splitting lines into columns", "3 times", f"{ratio:.2f} times"


def seconds_of(program: str, files: Sequence[Path]) -> float:
    """Return the processor time of a program after its imports, the best of five within one process."""
    lines = program.splitlines()
    imports = "\n".join(line for line in lines if line.startswith(("import", "from")))
    body = "\n".join(f"    {line}" for line in lines if line not in imports)
    code = TIMED.format(imports=imports, body=body)
    return float(
        subprocess.run([sys.executable, "-c", code, *map(str, files)], capture_output=True, check=True).stdout
    )


def report_rows(folder: Path, acts: Path | None, *, quick: bool) -> Iterator[Row]:
    """Measure agreement and reports, on a novel against reading it, on an act against adjudicating it."""
    files = novel_files(folder, quick=quick)
    reading = best([sys.executable, "-c", READING, *map(str, files)])
    agreement = best(command("agreement", files))
    yield (
        "`agreement` on the novel, 10 pairs of annotators, files to screen",
        "2 times reading the files",
        f"{agreement / reading:.2f} times {reading:.1f} s",
    )
    report, megabytes = child(command("report", files, folder / "report.html"))
    yield "`report` on the novel, HTML", "10 s", f"{report:.1f} s, {megabytes:.0f} MB"
    if acts is not None:
        files = sorted((acts / "Sara_Act1").glob("*.conll"))
        solving = best(command("adjudicate", files, folder / "gold.conll"))
        report = best(command("report", files, folder / "report.html"))
        ratio = f"{report / solving:.1f} times {solving:.2f} s"
        yield "`report` on an act, HTML, against `adjudicate`", "5 times", ratio


def corpus_row(folder: Path, *, quick: bool) -> Row:
    """Measure many small documents with one and with two processes."""
    documents = 500 if quick else 5_000
    tiny = corpus.make_tiny(folder / "tiny", documents)
    one, two = (corpus.run(tiny, folder / f"tiny-{count}", "--processes", count) for count in "12")
    each = 1000 * (one.parent + one.workers) / documents
    return (
        f"corpus of {documents:,} small documents",
        "3 ms each; 2 processes 1.8 times as fast by the clock",
        f"{each:.1f} ms of the processor each, {1000 * one.parent / documents:.1f} of them in the parent; "
        f"2 processes {one.seconds / two.seconds:.2f} times as fast",
    )


def page_row(folder: Path, *, quick: bool) -> Row:
    """Measure clicks on the novel's page by HTTP, and what of it is sent and built."""
    files = novel_files(folder, quick=quick)
    sent, times = clicks(files, folder, 5 if quick else 40)
    return (
        "a click on the novel's page, from POST to answer by HTTP",
        "0.5 s median; no more on the page than is in view",
        f"{times} ms (median, ninetieth percentile, worst); {sent / 1e6:.1f} MB sent at the beginning, "
        f"{elements(files, folder)} elements",
    )


def clicks(files: Sequence[Path], folder: Path, number: int) -> tuple[int, review.Times]:
    """Return how many bytes a page is sent, and how long clicks on it take."""
    with review.served(files, folder) as tab:
        sent = sum(len(tab.ask("GET", path)[0]) for path in ("/d/0/", "/d/0/state", "/d/0/questions"))

        return sent, review.timed(number, tab.click, tab.look)


def elements(files: Sequence[Path], folder: Path) -> str:
    """Count the elements of a page in the system's browser."""
    executable = find_browser()
    if executable is None:
        return "uncounted"
    words = (*map(str, files), "-o", str(folder / "browser.conll"))
    with served(folder, *words) as server, browser(executable) as opened:
        page = opened.new_page()
        page.goto(server.url)
        page.wait_for_selector(".line .t", timeout=120_000)
        return f"{page.locator('*').count():,}"


def novel_files(folder: Path, *, quick: bool) -> list[Path]:
    """Write the novel once; return its annotators' files."""
    shape = novel(tokens=20_000, mentions=2_000, longest=300) if quick else novel()
    place = folder / "the-novel"
    if place.is_dir():
        return sorted(place.glob("*.conll"))
    return save(make_document(shape, random.Random(f"1/{shape.name}")), place)


def command(name: str, files: Sequence[Path], output: Path | None = None) -> list[str]:
    """Return the words that run a subcommand."""
    words = [sys.executable, "-m", "caspr", name, *map(str, files), "-q"]
    return words if output is None else [*words, "-o", str(output)]


def best(words: Sequence[str], rounds: int = 3) -> float:
    """Return the least processor time of a program in several runs."""
    return min(child(words)[0] for _ in range(rounds))
