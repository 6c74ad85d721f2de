"""Questions about a document whose annotators drew boundaries differently."""

from caspr.review.session.questions import Queue
from caspr.review.session.solver import Solver
from caspr.task.settings import Settings
from caspr.text.document import Annotation, Chain, Document, Span

TEXT = Document("d", ("the", "old", "girl", "sang", "her", "song"))


def questions(*, variants: bool) -> list[tuple[Span, ...]]:
    given = {"ann": [(1, 3), (5, 5)], "bob": [(2, 3), (5, 5)], "carl": [(1, 3), (5, 5)]}
    annotations = [Annotation.of(name, TEXT, [Chain.of("1", spans)]) for name, spans in given.items()]
    solver = Solver(tuple(annotations), Settings(variants=variants))
    queue = Queue(solver)
    assert queue.open(solver.solve(()))[:1] == list(queue.questions[:1])
    return [question.mentions for question in queue.questions]


def test_who_differs_only_in_boundaries_agrees_where_variants_are_united() -> None:
    assert questions(variants=True) == []
    assert (Span(2, 3),) in questions(variants=False)
