"""One file given twice is not two annotators."""

from caspr.text.checks import check
from caspr.text.document import Annotation, Chain, Document


def codes(first: str, second: str, mentions: int) -> list[str]:
    document = Document("d", tuple(f"w{number}" for number in range(30)))
    chain = Chain.of("1", [(token, token) for token in range(1, mentions + 1)])
    return [one.code for one in check([Annotation.of(name, document, [chain]) for name in (first, second)])]


def test_annotators_may_agree_in_a_short_text() -> None:
    assert codes("eva", "ben", 3) == ["identical-annotations"]
    assert codes("eva", "evan", 3) == ["identical-annotations"]


def test_a_copy_is_a_warning() -> None:
    assert codes("eva", "ben", 25) == ["copied-annotations"]
    assert codes("eva", "eva (copy)", 3) == codes("Copy of eva", "eva", 3) == ["copied-annotations"]
