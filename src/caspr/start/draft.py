"""A project while it is made: where its files are, what annotators are called, what was answered.

    Sara/                       the folder that the user named
      annotators/               copies of what was dropped, where nothing else was chosen
      .caspr-start.json         the draft, so that one can go on after closing the page
      caspr-project.json        the project, once the annotations are merged
      documents/                its review files
      results/                  everything that was exported

A review file alone has its results beside it, in `NAME-results`.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from caspr.formats.review_file.project import is_project
from caspr.start.questions import LEARN, WEIGHTS, checked, options_of, options_of_weighing
from caspr.start.steps import CommandStep
from caspr.storage import write_all

NAME = ".caspr-start.json"
COPIES = "annotators"
RESULTS = "results"
SECONDS = "120"
"""How many seconds may be spent on a document; the review page searches on."""


def is_draft(folder: Path) -> bool:
    """Return whether a project was begun in a folder; none was in one that may not be looked into."""
    with suppress(OSError):
        return (folder / NAME).is_file()
    return False


@dataclass(frozen=True)
class Draft:
    """What is known about a project that is being made."""

    folder: Path
    source: str = ""
    """The folder of the annotators' files; empty for the copies in the project."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The names that annotators get, by those that they have in the files."""
    answers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Draft":
        """Read the draft of a folder; what cannot be read is as if nothing was chosen yet."""
        try:
            values = json.loads((folder / NAME).read_bytes())
        except (OSError, ValueError, RecursionError):
            values = {}
        values = values if isinstance(values, dict) else {}
        source, names, answers = (values.get(name) for name in ("source", "names", "answers"))
        return cls(
            folder,
            source if isinstance(source, str) else "",
            {str(old): str(new) for old, new in names.items()} if isinstance(names, dict) else {},
            checked(answers) if isinstance(answers, dict) and answers else {},
        )

    def changed(self, **values: object) -> "Draft":
        """Return the draft with other values, and keep it on the disk."""
        draft = replace(self, **values)  # type: ignore[arg-type]
        kept = {name: value for name, value in asdict(draft).items() if name != "folder"}
        write_all({self.folder / NAME: json.dumps(kept, indent=1, ensure_ascii=False) + "\n"})
        return draft

    @property
    def files(self) -> Path:
        """The folder with the annotators' files; where one folder was copied and nothing else, that one."""
        if self.source:
            return Path(self.source)
        copies = self.folder / COPIES
        inside = [path for path in copies.glob("*") if not path.name.startswith(".")]
        return inside[0] if len(inside) == 1 and inside[0].is_dir() else copies

    def check(self) -> CommandStep:
        """Return the step that looks at the files."""
        return CommandStep(
            "Reading the annotators' files", ("check", str(self.files), "--json"), may_fail=True
        )

    def adjudicate(self) -> list[CommandStep]:
        """Return the steps that merge the annotations."""
        files, folder = str(self.files), str(self.folder)
        steps = []
        if self.answers.get("reliable") == LEARN:
            how = options_of_weighing(self.answers)
            learn = ("weigh", files, "-o", str(self.folder / WEIGHTS), "--no-result", *how)
            remedy = "Go back, and answer the last question with Yes: then all count the same."
            title = "Learning how far each annotator can be trusted"
            steps.append(CommandStep(title, learn, remedy=remedy))
        how = options_of(self.answers, self.folder)
        merge = ("adjudicate", files, "--layout", "project", "-o", folder, *how, "--time-limit", SECONDS)
        steps.append(CommandStep("Merging the annotations", merge))
        renamed = [word for old, new in self.names.items() for word in ("--rename", f"{old}={new}")]
        if renamed:
            steps.append(CommandStep("Renaming annotators", ("redo", folder, *renamed, "-q")))
        return steps


def results_of(work: Path) -> Path:
    """Return the folder for what is exported of a project, or of a review file alone."""
    return work / RESULTS if is_project(work) else work.with_name(f"{work.stem}-{RESULTS}")


@dataclass(frozen=True)
class Export:
    """Something that can be made of a project by a button."""

    id: str
    label: str
    hint: str
    title: str
    """What is said while it works."""
    words: tuple[str, ...]
    """The command; `WORK` and `RESULTS/` stand for the project and the folder of the results."""

    def step(self, work: Path, format: str) -> CommandStep:
        """Return the step for a project; `format` is that of a gold standard."""
        folder = results_of(work)

        def filled(word: str) -> str:
            if word == "WORK":
                return str(work)
            inside = word.removeprefix(f"{RESULTS.upper()}/")
            word = word if inside == word else str(folder / inside)
            return word.replace("FORMAT", format)

        return CommandStep(self.title, tuple(map(filled, self.words)))


EXPORTS: Sequence[Export] = (
    Export(
        "gold",
        "Gold standard",
        "The merged annotations, with all that was decided, in the format that you choose.",
        "Writing the gold standard",
        ("redo", "WORK", "--gold", "RESULTS/gold-FORMAT", "--to", "FORMAT"),
    ),
    Export(
        "report",
        "Report",
        "Every dispute: who said what, what was decided and why. A page to read or to print.",
        "Writing the report",
        ("report", "WORK", "-o", "RESULTS/report.html"),
    ),
    Export(
        "agreement",
        "Agreement and LaTeX table",
        "How far the annotators agree, as text, as a table for LaTeX and as a table for spreadsheets.",
        "Measuring agreement",
        (
            "agreement",
            "WORK",
            "-o",
            "RESULTS/agreement.txt",
            "--latex",
            "RESULTS/agreement.tex",
            "--csv",
            "RESULTS/agreement.csv",
        ),
    ),
    Export(
        "methods",
        "Paragraph for the methods section",
        "What was done, in sentences for a paper, with the references.",
        "Writing the paragraph",
        ("report", "WORK", "--methods", "-o", "RESULTS/methods.txt"),
    ),
    Export(
        "methods-latex",
        "Paragraph for LaTeX",
        "The paragraph for the methods section as LaTeX, with the BibTeX entries of what it cites.",
        "Writing the paragraph",
        ("report", "WORK", "--methods", "-o", "RESULTS/methods.tex"),
    ),
    Export(
        "feedback",
        "Feedback for annotators",
        "A page for each annotator: what they marked differently from the gold standard.",
        "Writing the feedback",
        ("report", "WORK", "--feedback", "RESULTS/feedback", "-q"),
    ),
)
