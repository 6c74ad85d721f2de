"""What a linguist does with CaspR, done on some machine; results must have the bytes they have here."""

import html
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import psutil

from tests.cli.caller import EXAMPLES
from tests.cli.caller import SONG as SONG_FILES
from tests.corpus.corpora import golds, write_corpus
from tests.corpus.processes import until
from tests.platforms.machine import HERE, Machine
from tests.review.processes import Page

SONG = ("anna.conll", "ben.conll", "carla.conll")
ODD = ("CON", "a:b", "Grüße", "nul.x")
"""Names of documents: devices of Windows, a character it forbids, one that is not ASCII."""


def song(folder: Path) -> Path:
    """Copy the example to a folder."""
    return Path(shutil.copytree(EXAMPLES / "song", folder / "song"))


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def text_with(name: str) -> str:
    """Return a document of six words with some chains."""
    words = ["Ärger", "ist", "😀", "und", "Ärger", "bleibt"]
    cells = ["(1)", "-", "(2)", "-", "(1)", "(2)"]
    rows = "".join(f"{n}\t{w}\t{c}\n" for n, (w, c) in enumerate(zip(words, cells, strict=True), 1))
    return f"#begin document ({name});\n{rows}#end document\n"


def hard_text(mentions: int = 120, *, step: int) -> str:
    """Return one annotator's part of a document that no ASP solver finishes."""
    rows = "".join(f"{n}\tx\t({n % step + 1})\n" for n in range(1, mentions + 1))
    return f"#begin document (hard);\n{rows}#end document\n"


def write_hard(folder: Path) -> list[Path]:
    """Write the files of four annotators of a document that no ASP solver finishes."""
    folder.mkdir(parents=True, exist_ok=True)
    for step in (3, 4, 5, 7):
        (folder / f"a{step}.conll").write_text(hard_text(step=step), encoding="utf-8")
    return sorted(folder.iterdir())


def adjudicates(machine: Machine, folder: Path) -> None:
    """Check, adjudicate with three engines, redo, and find the same bytes as here."""
    place, here = song(folder), song(folder / "here")
    assert "song: 31 tokens" in machine.succeed("check", *SONG, cwd=place)
    for where, one in ((place, machine), (here, HERE)):
        for engine in ("native", "clingo", "gringo-clasp"):
            printed = one.succeed("adjudicate", *SONG, "--engine", engine, "-o", f"{engine}.conll", cwd=where)
            assert "proven optimal" in printed
        one.succeed("adjudicate", *SONG, "--layout", "review", "-o", "review.conll", cwd=where)
        review = where / "review.conll"
        changed = re.sub(rb"(?m)^(23\tmy *\t.*)-$", rb"\1=(3)", review.read_bytes())
        assert changed != review.read_bytes()
        review.write_bytes(changed)
        assert "review.conll.1.bak" in one.succeed(
            "redo", "review.conll", "--gold", "gold.conll", "--certificate", "proof.json", cwd=where
        )
        assert "1 of 1 certificates verified" in one.succeed(
            "verify", "proof.json", "review.conll", cwd=where
        )
    assert files(place) == files(here)


def reports(machine: Machine, folder: Path) -> None:
    """Report on annotators whose names are not file names on Windows."""
    for where, one in ((folder / "there", machine), (folder / "here", HERE)):
        where.mkdir()
        HERE.succeed("adjudicate", *_annotators(where), "--layout", "review", "-o", "review.conll", cwd=where)
        review = where / "review.conll"
        text = review.read_text(encoding="utf-8")
        for old, new in (("ann", "CON"), ("bob", "a:b")):
            text = text.replace(f'"{old}"', f'"{new}"')
        review.write_bytes(text.encode())
        one.succeed("report", "review.conll", "-o", "report.html", "--feedback", "pages", cwd=where)
        printed = one.succeed("report", "review.conll", cwd=where)
        assert "😀" in printed
        assert "\r" not in printed
    there = files(folder / "there")
    assert {"pages/%43ON.html", "pages/a_b.html"} <= set(there)
    pages = [name for name in there if name.endswith(".html")]
    here = files(folder / "here")
    assert {name: there[name] for name in pages if "pages/" in name} == {
        name: here[name] for name in pages if "pages/" in name
    }


def _annotators(folder: Path) -> list[str]:
    text = text_with("Grüße")
    (folder / "ann.conll").write_bytes(text.encode())
    (folder / "bob.conll").write_bytes(text.replace("und\t-", "und\t(2)").replace("\n", "\r\n").encode())
    return ["ann.conll", "bob.conll"]


def converts(machine: Machine, folder: Path) -> None:
    """Convert documents with odd names to formats with a file for each, and back."""
    (folder / "all.conll").write_bytes("".join(map(text_with, ODD)).encode())
    machine.succeed("convert", "all.conll", "brat", "--to", "brat", cwd=folder)
    written = list((folder / "brat").rglob("*.ann"))
    assert len(written) == len(ODD), written
    machine.succeed("convert", "brat", "back.conll", "--to", "conll", cwd=folder)
    back = (folder / "back.conll").read_bytes()
    assert b"\r" not in back
    assert back.count("Ärger\t(".encode()) == 2 * len(ODD)
    assert back.count("😀\t(".encode()) == len(ODD)
    outcome = machine.run("convert", "all.conll", "-", "--to", "jsonlines", cwd=folder)
    assert outcome.code == 0
    assert outcome.out == HERE.run("convert", "all.conll", "-", "--to", "jsonlines", cwd=folder).out
    assert "Grüße" in machine.run("convert", "all.conll", "x/Grüße.conll", cwd=folder).err


def limits(machine: Machine, folder: Path) -> None:
    """Keep a time limit and a memory limit, and leave no process."""
    names = [path.name for path in write_hard(folder)]
    for option in (("--memory-limit", 150), ("--time-limit", 2)):
        words = ("--engine", "clingo", "--objective", "ua", *option, "-o", "gold.conll")
        outcome = machine.run("adjudicate", *names, *words, cwd=folder)
        # On a slow machine clingo may have found nothing by then.
        assert outcome.code in (0, 3), outcome
        assert f"not proven optimal before the {option[0][2:].replace('-', ' ')}" in outcome.err
    assert not workers(folder)


def workers(folder: Path) -> list[int]:
    """Return the processes that work in a folder, or for one that does."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            inside = folder in (Path(process.cwd()), *Path(process.cwd()).parents)
        except psutil.Error:
            continue
        if inside and any("caspr" in word for word in words) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process.pid)
    return found


CORPUS = ("corpus", "in", "-o", "out", "--engine", "clingo", "--objective", "ua", "--processes", "2")
INTERRUPTED = """
import os, signal, sys, threading, time
from caspr.__main__ import main

def interrupt():
    while not os.path.isdir("out") or sum(name.endswith(".conll") for name in os.listdir("out")) < 3:
        time.sleep(0.1)
    time.sleep(1)
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
main()
"""
"""A run that gets the signal of Ctrl-C when it has done three documents."""


def write_slow_corpus(folder: Path) -> Path:
    """Write three small documents, and one that is never done."""
    corpus = write_corpus(folder / "in", ["one", "CON", "zwölf"], by="file", annotators=("ann", "bob"))
    for path, step in zip(sorted(corpus.iterdir()), (3, 5), strict=True):
        path.write_bytes(path.read_bytes() + hard_text(step=step).encode())
    return corpus


def stops(machine: Machine, folder: Path) -> None:
    """Interrupt a corpus run: it says what is done, and leaves no process."""
    write_slow_corpus(folder)
    with machine.start_python("-c", INTERRUPTED, *CORPUS, cwd=folder) as process:
        _, printed = process.communicate(timeout=machine.patience)
    assert process.returncode == 130
    assert printed.decode() == "stopped; 3 documents done; run the same command to continue\n"
    assert not workers(folder)


def resumes_a_corpus(machine: Machine, folder: Path) -> None:
    """Kill a corpus run, find no process left, and run it again: only what is missing is done."""
    corpus = write_slow_corpus(folder)
    process = machine.start(*CORPUS, cwd=folder)
    until(lambda: (folder / "out").exists() and len(golds(folder / "out")) == 3, machine.patience)
    time.sleep(1.5)  # the journal is committed every half a second
    process.kill()
    process.communicate()
    until(lambda: not workers(folder), 20)
    for path in corpus.iterdir():
        text = path.read_bytes().partition(b"#begin document (hard)")[0]
        path.write_bytes(text + text_with("hard").encode())
    printed = machine.succeed(*CORPUS, cwd=folder)
    assert "4 documents, 3 taken over from an earlier run" in printed
    assert set(golds(folder / "out")) == {"%43ON.conll", "hard.conll", "one.conll", "zwölf.conll"}
    HERE.succeed(*[word if word != "out" else "again" for word in CORPUS], cwd=folder)
    assert golds(folder / "out") == golds(folder / "again")


ENDED = """
import os, signal, threading, time
from caspr.__main__ import main

def interrupt():
    while not os.path.exists("end"):
        time.sleep(0.1)
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
main()
"""
"""A review that gets the signal of Ctrl-C when there is a file `end`."""


def reviews(machine: Machine, folder: Path) -> None:
    """Decide on the review page: a second process is refused, a decision survives a kill, Ctrl-C ends it."""
    place = song(folder)
    first = machine.start("review", *SONG, "--no-browser", cwd=place)
    page = Page(_address(first))
    assert page.do(do="exists", mentions=["23-23"]).status_code == 200
    refused = machine.run("review", "review.conll", "--no-browser", cwd=place)
    assert refused.code == 2
    assert re.search(r"open in another `caspr` \(process \d+\)", refused.err), refused.err
    first.kill()
    first.communicate()
    until(lambda: not workers(place), 20)
    second = machine.start_python("-c", ENDED, "review", "review.conll", "--no-browser", cwd=place)
    assert [one["kind"] for one in Page(_address(second)).state()["decisions"]] == ["exists"]
    (place / "end").touch()
    second.communicate(timeout=machine.patience)
    assert second.returncode == 0
    assert not (place / ".review.conll.lock").exists()


def _address(process: "subprocess.Popen[bytes]") -> str:
    assert process.stderr is not None
    printed = ""
    while (found := re.search(r"http://\S+", printed)) is None:
        line = process.stderr.readline().decode("utf-8")
        assert line, printed
        printed += line
    return found[0]


def starts(machine: Machine, folder: Path) -> None:
    """Come from files to a gold standard on the start page, as here; it ends when its page is closed."""
    golds = []
    for name, one in (("there", machine), ("here", HERE)):
        (folder / name).mkdir(parents=True)
        process = one.start("start", "--no-browser", cwd=folder / name)
        with _StartPage(_address(process)) as page, page.client.stream("GET", "/alive") as alive:
            beats = alive.iter_text()  # kept: an iterator that is dropped closes the stream
            assert next(beats)
            at = page.press("/make", name="song", **{"in": page.start})
            for path in map(Path, SONG_FILES):
                page.drop(path, at)
            assert "anna" in page.finish(page.press("/look", at=at))
            page.press("/names", at=at, anna="Änne", ben="ben", carla="carla")
            page.finish(page.press("/merge", at=at, nested="never"))
            assert page.client.get("/review", params={"at": at}).headers["location"].startswith("http://127.")
            assert "gold-conll" in page.finish(page.press("/export", at=at, what="gold", format="conll"))
        process.communicate(timeout=machine.patience)
        assert process.returncode == 0
        golds.append((folder / name / "song" / "results" / "gold-conll" / "song.conll").read_bytes())
    assert golds[0] == golds[1]


class _StartPage:
    """Presses the buttons of a start page."""

    def __init__(self, address: str) -> None:
        base, _, query = address.partition("/?")
        self.client = httpx.Client(base_url=base, timeout=60)
        self.client.get(f"/?{query}")
        text = self.client.get("/new").text
        csrf, start = (
            re.search(f'name="{name}" (?:content|value)="([^"]+)"', text) for name in ("csrf", "in")
        )
        assert csrf is not None
        assert start is not None
        self.start = html.unescape(start[1])
        self.headers = {"X-CSRF": csrf[1], "Origin": base}

    def __enter__(self) -> "_StartPage":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def press(self, button: str, at: str = "", **values: str) -> str:
        """Press a button, and return the folder that the next page is about."""
        answer = self.client.post(button, params={"at": at}, json=values, headers=self.headers)
        assert answer.status_code == 200, answer.text
        to: str = answer.json()["to"]
        return parse_qs(urlsplit(to).query)["at"][0]

    def drop(self, path: Path, at: str) -> None:
        """Drop a file."""
        words = {"at": at, "name": path.name}
        answer = self.client.post("/upload", params=words, content=path.read_bytes(), headers=self.headers)
        assert answer.json() == {"copied": True}

    def finish(self, at: str) -> str:
        """Wait until something is made, and return the page that follows."""
        while (job := self.client.get("/progress", params={"at": at}).json())["state"] == "running":
            time.sleep(0.2)
        assert job["state"] == "done", job
        return self.client.get(job["then"].partition("#")[0]).text


SCENARIOS = (adjudicates, reports, converts, limits, stops, resumes_a_corpus, reviews, starts)
