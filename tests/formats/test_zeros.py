"""Dropped subjects and objects that annotators put at different places are one mention, and none is lost."""

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from caspr.adjudication import adjudicate
from caspr.errors import InputError
from caspr.formats import corefud
from caspr.measures.comparison import compare
from caspr.text.alignment import align
from caspr.text.document import Annotation, Span
from caspr.text.trees import dependencies, place
from tests.sweeps import some


class Zero(NamedTuple):
    """A dropped word: what it depends on, how, and its entity."""

    parent: int
    relation: str
    entity: str


class Story(NamedTuple):
    """Two sentences; the first has the mentions e1 and e2, the second only zeros."""

    first: str
    second: str
    zeros: tuple[Zero, ...]


STORIES = {
    "Catalan": Story(
        "Marta llibre troba .",
        "Diu que vindrà i portarà .",
        (Zero(1, "nsubj", "e1"), Zero(3, "nsubj", "e1"), Zero(5, "nsubj", "e1"), Zero(5, "obj", "e2")),
    ),
    "Czech": Story(
        "Jana knihu našla .",
        "Řekla , že přinese .",
        (Zero(1, "nsubj", "e1"), Zero(4, "nsubj", "e1"), Zero(4, "obj", "e2")),
    ),
    "Polish": Story(
        "Anna książkę znalazła .",
        "Powiedziała , że przyniesie .",
        (Zero(1, "nsubj", "e1"), Zero(4, "nsubj", "e1"), Zero(4, "obj", "e2"), Zero(4, "iobj", "e1")),
    ),
    "Spanish": Story(
        "Ana libro encuentra .",
        "Dice que vendrá y traerá .",
        (Zero(1, "nsubj", "e1"), Zero(3, "nsubj", "e1"), Zero(5, "obj", "e2"), Zero(5, "nsubj", "e1")),
    ),
    "Turkish": Story(
        "Ayşe kitabı buldu .",
        "Getireceğini söyledi .",
        (Zero(1, "nsubj", "e1"), Zero(1, "obj", "e2"), Zero(2, "nsubj", "e1")),
    ),
}


def written(path: Path, story: Story, after: dict[Zero, int], form: str = "_") -> Annotation:
    """Write and read a story with some of its zeros, each after the word of a number."""
    rows = ["# newdoc id = d", "# global.Entity = eid-etype-head-other", "# sent_id = s1"]
    for number, word in enumerate(story.first.split(), 1):
        misc = f"Entity=(e{number}-person-1)" if number < 3 else "_"
        rows.append(f"{number}\t{word}\t_\tX\t_\t_\t{0 if number == 3 else 3}\tdep\t3:dep\t{misc}")
    rows += ["", "# sent_id = s2"]
    words = story.second.split()
    for number in range(len(words) + 1):
        if number:
            rows.append(f"{number}\t{words[number - 1]}\t_\tX\t_\t_\t{number - 1}\tdep\t{number - 1}:dep\t_")
        here = [zero for zero, place in after.items() if place == number]
        for count, zero in enumerate(here, 1):
            deps = f"{zero.parent}:{zero.relation}"
            rows.append(
                f"{number}.{count}\t{form}\t_\tX\t_\t_\t_\t_\t{deps}\tEntity=({zero.entity}-person-1)"
            )
    path.write_text("\n".join([*rows, "", ""]))
    (annotation,) = corefud.read(path)
    return annotation


def scattered(story: Story, chance: random.Random, lost: float = 0) -> dict[Zero, int]:
    zeros = [zero for zero in story.zeros if chance.random() >= lost]
    chance.shuffle(zeros)
    return {zero: chance.randint(0, len(story.second.split())) for zero in zeros}


def chains(annotation: Annotation) -> list[tuple[Span, ...]]:
    return sorted(chain.mentions for chain in annotation.all_chains)


def known(path: Path) -> set[tuple[str, frozenset[tuple[object, str]] | int]]:
    """Return the mentions of a file with their entities: words by number, zeros by what they depend on."""
    (annotation,) = corefud.read(path)
    document = annotation.document
    names: dict[Span, str] = {}
    for chain in annotation.all_chains:
        head = "e1" if Span(1, 1) in chain.mentions else "e2"
        names |= dict.fromkeys(chain.mentions, head)
    return {
        (name, dependencies(document, span.start) if place(document, span.start).empty else span.start)
        for span, name in names.items()
    }


@pytest.mark.parametrize("language", STORIES)
@pytest.mark.parametrize("seed", some(range(40), 3))
def test_shifted_nodes_change_nothing(language: str, seed: int, tmp_path: Path) -> None:
    story, chance = STORIES[language], random.Random(f"{language}{seed}")
    own = [
        written(tmp_path / f"{name}.conllu", story, scattered(story, chance), form)
        for name, form in (("ann", "_"), ("bob", "_"), ("cem", "on"))
    ]
    one, two, three = align(own)
    assert chains(one) == chains(two) == chains(three)
    assert sum(len(chain) for chain in chains(one)) == 2 + len(story.zeros)
    assert set(compare([(one, two, three)]).alpha.values()) == {1}
    (result,) = adjudicate([[one] for one in own], singletons="vote")
    gold = tmp_path / "gold.conllu"
    gold.write_text(corefud.write([result.gold]))
    assert known(gold) == known(tmp_path / "ann.conllu")
    kept = [line for line in gold.read_text().splitlines() if not line.startswith("# caspr")]
    assert kept == (tmp_path / "ann.conllu").read_text().splitlines(), "written with the nodes of the first"


@pytest.mark.parametrize("language", STORIES)
@pytest.mark.parametrize("seed", some(range(40), 3))
def test_nodes_that_a_file_lacks_are_lent(language: str, seed: int, tmp_path: Path) -> None:
    story, chance = STORIES[language], random.Random(f"{language}{seed}")
    own = [
        written(tmp_path / f"{name}.conllu", story, scattered(story, chance, lost))
        for name, lost in (("ann", 0.6), ("bob", 0), ("cem", 0))
    ]
    (result,) = adjudicate([[one] for one in own], singletons="vote")
    gold = tmp_path / "gold.conllu"
    gold.write_text(corefud.write([result.gold]))
    assert known(gold) == known(tmp_path / "bob.conllu")
    ids = [line.split("\t")[0] for line in gold.read_text().splitlines() if "\t" in line]
    second = [tuple(map(int, id.split("."))) for id in ids[len(story.first.split()) :]]
    assert second == sorted(set(second)), "nodes are numbered in order"


def test_what_moved_is_said(tmp_path: Path) -> None:
    story = STORIES["Czech"]
    subject, *others = story.zeros
    one = written(tmp_path / "one.conllu", story, {subject: 0, **dict.fromkeys(others, 3)})
    two = written(tmp_path / "two.conllu", story, {subject: 1, **dict.fromkeys(others, 3)})
    first, second = align([one, two])
    assert "moved-zeros" not in [finding.code for finding in first.findings]
    (finding,) = [finding for finding in second.findings if finding.code == "moved-zeros"]
    assert finding.count == 1
    assert str(finding).count("1 empty node in other places than in another annotator's file") == 1


def test_a_mention_with_words_stays_where_its_words_are(tmp_path: Path) -> None:
    def story(name: str, *rows: str) -> Annotation:
        lines = ["# newdoc id = d", "# global.Entity = eid-etype-head-other", *rows, "", ""]
        path = tmp_path / name
        path.write_text("\n".join(lines))
        return corefud.read(path)[0]

    words = [f"{n}\tw{n}\t_\tX\t_\t_\t0\troot\t0:root\t" for n in range(1, 5)]
    zero = ".1\t_\t_\tX\t_\t_\t_\t_\t4:nsubj\t_"
    one = story(
        "one",
        words[0] + "_",
        f"1{zero}",
        *(f"{word}Entity=({id})" for word, id in zip(words[1:], "abc", strict=True)),
    )
    two = story(
        "two", words[0] + "_", words[1] + "Entity=(x", f"2{zero}", words[2] + "Entity=x)", words[3] + "_"
    )
    _, moved = align([one, two])
    assert chains(moved) == [(Span(3, 4),)]


def test_texts_must_still_be_the_same(tmp_path: Path) -> None:
    one, two = (written(tmp_path / f"{name}.conllu", STORIES[name], {}) for name in ("Czech", "Polish"))
    with pytest.raises(InputError, match="all annotators of document 'd' must have the same text"):
        align([one, two])
