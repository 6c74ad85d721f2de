"""Random documents, chains and annotations for the round trips of all formats."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from caspr.task.decisions import Decisions, Statement, StatementKind
from caspr.text.document import Annotation, Chain, Document
from tests.sweeps import how_many

ODD = "\u2028\u2029\u0085\u00a0\x0b\x0c\x1c\r\ufeff\u200b\U0001f600e\u0301#=()|;-_*\"' \\"
# Plain numbers, because hypothesis needs seconds to list the characters of a category.
LETTERS = st.one_of(
    st.sampled_from(ODD), st.integers(32, 0xD7FF).map(chr), st.integers(0xE000, 0x10FFFF).map(chr)
)

words = st.one_of(
    st.sampled_from(["the", "1", "#", "#end document", "-", "(1)", ""]), st.text(LETTERS, max_size=6)
)
names = st.one_of(
    st.sampled_from(["d", "a); part 1(", "", '"; rm -rf /', "x)"]), st.text(LETTERS, max_size=8)
)
parts = st.one_of(st.none(), st.sampled_from(["0", "000", "017", "b-2"]))
ids = st.one_of(
    st.sampled_from(["1", "2", "3", "10", "person-1-Name", "-", "_", "99999999999999999999"]),
    st.text(LETTERS, min_size=1, max_size=4).filter(
        lambda text: not (text.startswith("=") or set(text) & set("()|") or any(map(str.isspace, text)))
    ),
)


@st.composite
def chains(draw: st.DrawFn, length: int) -> list[Chain]:
    """Draw chains that nest, cross, share spans and cross themselves."""
    if not length:
        return []
    token = st.integers(1, length)
    span = st.tuples(token, token).map(lambda ends: (min(ends), max(ends)))
    drawn = draw(st.dictionaries(ids, st.lists(span, min_size=1, max_size=6), max_size=5))
    return [Chain.of(id, spans) for id, spans in drawn.items()]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a document as a program would make it."""
    tokens = draw(st.one_of(st.lists(words, max_size=9), st.lists(st.sampled_from("0123"), max_size=9)))
    return Document(draw(names), tuple(tokens), draw(parts))


@st.composite
def annotations(draw: st.DrawFn, annotator: str = "Ann") -> Annotation:
    """Draw one annotator's view of a document."""
    document = draw(documents())
    return Annotation.of(annotator, document, draw(chains(len(document.tokens))))


def corpora() -> st.SearchStrategy[list[Annotation]]:
    """Draw what one annotator's file holds."""
    return st.lists(annotations(), min_size=1, max_size=4, unique_by=lambda one: one.document.key)


@st.composite
def decisions(draw: st.DrawFn, length: int) -> Decisions:
    """Draw decisions, contradictory ones included."""
    empty = st.frozensets(st.integers(1, length), max_size=3) if length else st.just(frozenset[int]())
    return Decisions.of(draw(chains(length)), draw(empty), draw(statements(length)))


_OF_SOME = [StatementKind.EXISTS, StatementKind.MENTION, StatementKind.ALONE, StatementKind.ABSENT]


@st.composite
def statements(draw: st.DrawFn, length: int) -> list[Statement]:
    """Draw statements of all kinds."""
    if length < 2:
        return []
    token = st.integers(1, length)
    span = st.tuples(token, token).map(lambda ends: (min(ends), max(ends)))
    two = st.lists(span, min_size=2, max_size=2, unique=True)
    several = st.lists(span, min_size=2, max_size=4, unique=True)
    some = st.lists(span, min_size=1, max_size=3)
    one = st.one_of(
        st.builds(Statement.of, st.just(StatementKind.ENFORCED), some, ids),
        st.builds(Statement.of, st.just(StatementKind.TOGETHER), several),
        st.builds(Statement.of, st.sampled_from(_OF_SOME), some),
        st.builds(Statement.of, st.sampled_from([StatementKind.APART, StatementKind.NESTED]), two),
    )
    return draw(st.lists(one, max_size=4))


def one_document(*rows: str, name: str = "d") -> str:
    """Write a file of one document."""
    return "".join(f"{line}\n" for line in (f"#begin document ({name});", *rows, "#end document"))


relaxed = settings(deadline=None, max_examples=how_many(150), suppress_health_check=[HealthCheck.too_slow])
"""For machines that are busy with something else."""
