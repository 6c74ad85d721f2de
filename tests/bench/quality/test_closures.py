"""Closures and antecedents on texts small enough to follow by hand."""

from bench.quality.closures import antecedent_majority, majority_closure, union_closure
from caspr.text.document import Annotation, Chain, Document

TEXT = Document("d", tuple("abcdef"))


def by(name: str, *chains: str) -> Annotation:
    """Make an annotation whose chains are words of the letters they hold."""
    spans = [[(1 + "abcdef".index(letter),) * 2 for letter in chain] for chain in chains]
    return Annotation.of(name, TEXT, [Chain.of(str(number), chain) for number, chain in enumerate(spans)])


def letters(annotation: Annotation) -> set[str]:
    return {"".join(TEXT.text(span) for span in chain.mentions) for chain in annotation.all_chains}


THREE = (by("anna", "abc", "e"), by("ben", "ab", "cd", "e"), by("carla", "bc", "f"))


def test_union_joins_what_anybody_linked_and_keeps_every_mention() -> None:
    assert letters(union_closure(THREE)) == {"abcd", "e", "f"}


def test_majority_joins_what_most_linked_and_keeps_mentions_that_most_marked() -> None:
    assert letters(majority_closure(THREE)) == {"abc", "e"}
    assert letters(majority_closure(THREE[:2])) == {"ab", "c", "e"}


def test_each_mention_follows_the_antecedent_that_most_gave_it() -> None:
    two = (by("anna", "acd"), by("ben", "ab", "cd"), by("carla", "abc", "d"))
    # b: a, a; c: a, none, b (the nearest wins the tie); d: c, c, none
    assert letters(antecedent_majority(two)) == {"abcd"}
    most_say_none = (by("anna", "ab"), by("ben", "a", "b"), by("carla", "a", "b"))
    assert letters(antecedent_majority(most_say_none)) == {"a", "b"}
