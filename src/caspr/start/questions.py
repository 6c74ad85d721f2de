"""The five questions of docs/choosing.md in words, and the options that answers stand for."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

WEIGHTS = "weights.csv"
"""The file of a project with what was learned about its annotators."""
LEARN = "learn"
"""The answer that wants weights to be learned."""


@dataclass(frozen=True)
class SettingsAnswer:
    """An answer."""

    value: str
    label: str
    hint: str = ""
    words: tuple[str, ...] = ()
    """The options of the command line."""


@dataclass(frozen=True)
class SettingsQuestion:
    """A question with its answers, the usual one first."""

    id: str
    title: str
    why: str
    choices: tuple[SettingsAnswer, ...]
    sign: str = ""
    """The finding of `caspr check` that suggests the second answer."""
    suggested: str = ""
    """What is said then."""


QUESTIONS = (
    SettingsQuestion(
        "seen",
        "Did every annotator read the whole of the texts they have?",
        "This matters most. Where somebody marked nothing, it counts as a vote that nothing there refers to "
        "the same thing. Texts that an annotator has no file of do not matter here.",
        (
            SettingsAnswer("all", "Yes, from beginning to end"),
            SettingsAnswer(
                "marks",
                "No, some read only a part of a text",
                "Each annotator then counts only from their first mention in a text to their last.",
                ("--coverage", "marks"),
            ),
        ),
        "partial-coverage",
        "In your files, somebody marked nothing in a stretch where others marked a lot: see what was noticed "
        "in the check.",
    ),
    SettingsQuestion(
        "boundaries",
        "Did the annotators decide themselves where a mention begins and ends?",
        "Then one may have marked “Sir” and another “Sir !” and mean the same.",
        (
            SettingsAnswer("given", "No, the mentions were given"),
            SettingsAnswer(
                "own",
                "Yes, and their boundaries may differ",
                "Mentions that differ only slightly are then one mention, with the boundary that most "
                "annotators drew.",
                ("--variants",),
            ),
        ),
        "boundary-variants",
        "In your files, some mentions differ only slightly in their boundaries.",
    ),
    SettingsQuestion(
        "nested",
        "May a mention refer to the same thing as a mention inside it?",
        "As in “[the man who lost [his] hat]”.",
        (
            SettingsAnswer("vote", "Yes, where most annotators say so"),
            SettingsAnswer("never", "No, our guidelines forbid it", "", ("--nested", "never")),
        ),
    ),
    SettingsQuestion(
        "alone",
        "What should happen to mentions of something that is mentioned only once?",
        "They are also called singletons. Some guidelines mark them, others do not.",
        (
            SettingsAnswer(
                "auto", "As the annotators did it", "They are kept if most annotators marked such mentions."
            ),
            SettingsAnswer("drop", "Leave them out", "", ("--singletons", "drop")),
            SettingsAnswer(
                "vote",
                "Keep those that more than a third of the annotators marked",
                "",
                ("--singletons", "vote"),
            ),
        ),
    ),
    SettingsQuestion(
        "reliable",
        "Should all annotators count the same?",
        "With three annotators or more, CaspR can learn from their work whom to trust more.",
        (
            SettingsAnswer("equal", "Yes"),
            SettingsAnswer(
                LEARN,
                "No, learn from their work how much each should count",
                "Helps where some are much more careful than others; needs three annotators or more.",
            ),
        ),
    ),
)


def usual(codes: Collection[str] = ()) -> dict[str, str]:
    """Return the usual answers; boundaries that differ in the files are united."""
    return {
        question.id: question.choices[question.id == "boundaries" and question.sign in codes].value
        for question in QUESTIONS
    }


def checked(answers: Mapping[str, object]) -> dict[str, str]:
    """Return the answers to all questions; what is not an answer becomes the usual one.

    >>> checked({"nested": "never", "seen": "perhaps"})["nested"]
    'never'
    """
    return {
        question.id: next(
            (choice.value for choice in question.choices if choice.value == answers.get(question.id)),
            question.choices[0].value,
        )
        for question in QUESTIONS
    }


def options_of(answers: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Return the options of `caspr adjudicate` for some answers."""
    chosen = [
        word
        for question in QUESTIONS
        for choice in question.choices
        if answers.get(question.id) == choice.value
        for word in choice.words
    ]
    learned = ("--weights", str(folder / WEIGHTS)) if answers.get("reliable") == LEARN else ()
    return (*chosen, *learned)


def options_of_weighing(answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options of `caspr weigh`, which knows who saw what and boundaries.

    >>> options_of_weighing({"seen": "marks", "boundaries": "own", "nested": "never"})
    ('--coverage', 'marks', '--variants')
    """
    return options_of({name: answers[name] for name in ("seen", "boundaries") if name in answers}, Path())
