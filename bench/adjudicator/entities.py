"""Answer entity questions, and see whether every mention is in the entity that was chosen.

    python -m bench.adjudicator.entities FOLDER... [--questions 60] [--variants]

Each FOLDER holds the annotators' files of one document. Every choice of its first questions about entities is
answered on its own, with nothing decided before; then one choice of each question, one after the other, drawn
at random, as somebody works through them. An answer holds if the chain of the mention has more than half of
the entity that the card showed. What leaves the entity with an answer must be said by the card before.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from caspr.formats import read_all
from caspr.review.history import History, Step
from caspr.review.operations import OperationError
from caspr.review.questions.choices import Choice
from caspr.review.questions.question import Question, QuestionKind
from caspr.review.session import fresh_review
from caspr.review.solver import Snapshot, Solver
from caspr.task.decisions import Authorship, read_spelled, spelled
from caspr.task.limits import Limits
from caspr.task.settings import Settings
from caspr.text.document import Annotation, Span

SOLVING = Limits(seconds=10.0)
CURATOR = Authorship("curator", "")


@dataclass
class Answers:
    """What became of answers."""

    given: int = 0
    refused: list[str] = field(default_factory=list)
    """Those that contradict earlier answers although the card did not say that they are not possible."""
    impossible: int = 0
    """How many were refused as the card said."""
    broken: list[str] = field(default_factory=list)
    """Those whose mention is not in the entity that was chosen."""
    parted: int = 0
    """How many whose mention is with the one that the card names, without half of its entity, as it said."""
    untold: list[str] = field(default_factory=list)
    """Those with which mentions left the entity although the card did not say so, or said others."""
    pointless: list[str] = field(default_factory=list)
    """Questions that offer nothing but what earlier answers rule out."""
    undone: list[str] = field(default_factory=list)
    """Those given one after the other that do not hold at the end, neither for the entity nor for the mention
    that the card named, although no later answer is about them."""

    def __str__(self) -> str:
        """Count them."""
        counts = {
            "answers": self.given,
            "refused as the card said": self.impossible,
            "refused without a word before": len(self.refused),
            "not in that entity": len(self.broken),
            "in a part of it, as the card said": self.parted,
            "with mentions that left it untold": len(self.untold),
            "lost at the end": len(self.undone),
            "questions without a possible entity": len(self.pointless),
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items())


def opened(annotations: Sequence[Annotation], settings: Settings) -> History:
    """Open a review in which nothing is decided."""
    solver = Solver(tuple(annotations), settings)
    return History.of(fresh_review(tuple(annotations), settings), solver, SOLVING, CURATOR)


def answer_all(annotations: Sequence[Annotation], settings: Settings, questions: int) -> Answers:
    """Answer every choice of the first questions about entities, each on its own."""
    history, answers = opened(annotations, settings), Answers()
    for question in _about_entities(history)[:questions]:
        history.queue.price(question, history.snapshot, 60.0, lambda: False)
        card = history.queue.card(question, history.snapshot)
        for choice, shown in _choices(history, question, card):
            _answer(history, answers, card, choice, shown)
    return answers


def answer_in_turn(
    annotations: Sequence[Annotation], settings: Settings, questions: int, seed: int = 7
) -> Answers:
    """Answer one choice of each question, one after the other, and look at all of them in the end."""
    history, answers, rng = opened(annotations, settings), Answers(), random.Random(seed)
    given: list[tuple[str, Span, Choice]] = []
    asked: set[str] = set()
    while len(asked) < questions:
        left = [question for question in _about_entities(history) if question.id not in asked]
        if not left:
            break
        asked.add(left[0].id)
        history.queue.price(left[0], history.snapshot, 2.0, lambda: False)
        card = history.queue.card(left[0], history.snapshot)
        choices = list(_choices(history, left[0], card))
        possible = [(choice, shown) for choice, shown in choices if shown["possible"]]
        if choices and not possible:
            answers.pointless.append(card["text"])
        if not possible:
            continue
        choice, shown = rng.choice(choices)
        step = _answer(history, answers, card, choice, shown)
        if step is not None:
            history.commit(step)
            given.append((card["text"], read_spelled(card["mention"]), choice))
    for number, (text, mention, choice) in enumerate(given):
        later = {other for _, other, _ in given[number + 1 :]}
        rest = replace(choice, mentions=tuple(span for span in choice.mentions if span not in later))
        if mention in later or not rest.mentions or choice.anchor in entity(history.snapshot, mention):
            continue
        if not holds(history.snapshot, mention, rest):
            answers.undone.append(text)
    return answers


def _about_entities(history: History) -> list[Question]:
    return [
        question for question in history.queue.open(history.snapshot) if question.kind is QuestionKind.LINK
    ]


def _choices(
    history: History, question: Question, card: dict[str, Any]
) -> Iterator[tuple[Choice, dict[str, Any]]]:
    by_id = {shown["id"]: shown for shown in card["choices"]}
    for choice in history.queue.choices(question, history.snapshot):
        yield choice, by_id[choice.id]


def _answer(
    history: History, answers: Answers, card: dict[str, Any], choice: Choice, shown: dict[str, Any]
) -> Step | None:
    """Return the step that a choice leads to; `None` if it is refused."""
    answers.given += 1
    said = f"{card['text']} {shown['anchor']}"
    try:
        step = history.step_for(shown["answer"], SOLVING, CURATOR)
    except OperationError as error:
        if shown["computed"] and not shown["possible"]:
            answers.impossible += 1
        else:
            answers.refused.append(f"{said}: {error}")
        return None
    mention = read_spelled(card["mention"])
    gone = sorted(map(spelled, set(choice.mentions) - entity(step.snapshot, mention)))
    is_told = gone == sorted(shown["leaving"])
    if shown["computed"] and shown["exact"] and not is_told:
        answers.untold.append(f"{said}: {gone}, said {shown['leaving']}")
    if not holds(step.snapshot, mention, choice):
        if is_told and choice.anchor in entity(step.snapshot, mention):
            answers.parted += 1
        else:
            answers.broken.append(said)
    return step


def entity(snapshot: Snapshot, mention: Span) -> frozenset[Span]:
    """Return the mentions of the chain that a mention is in."""
    id = snapshot.chain_of.get(mention)
    chain = None if id is None else snapshot.chain(id)
    return frozenset(chain.mentions if chain is not None else ())


def holds(snapshot: Snapshot, mention: Span, choice: Choice) -> bool:
    """Return whether a mention is in the entity of a choice: with more than half of its mentions."""
    return 2 * len(entity(snapshot, mention).intersection(choice.mentions)) > len(choice.mentions)


def main(words: Sequence[str] | None = None) -> None:
    """Print what became of the answers in each folder."""
    parser = argparse.ArgumentParser(prog="python -m bench.adjudicator.entities", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--variants", action="store_true")
    options = parser.parse_args(words)
    settings = Settings(variants=options.variants)
    for folder in options.folders:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        annotations = [annotation for file in read_all(files) for annotation in file]
        for name, answer in (("each alone", answer_all), ("in turn", answer_in_turn)):
            answers = answer(annotations, settings, options.questions)
            print(f"{folder.name}, {name}: {answers}", flush=True)
            for text in (
                *answers.refused,
                *answers.broken,
                *answers.untold,
                *answers.pointless,
                *answers.undone,
            ):
                print(f"    {text}", flush=True)


if __name__ == "__main__":
    main()
