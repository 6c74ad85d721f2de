"""Programs: only numbers reach the solver, and names and order change nothing."""

import random
from dataclasses import replace

import clingo
import pytest

from caspr.engines.asp.program import FIGURES, figure, program
from caspr.task.instance import Instance
from caspr.text.document import Annotation, Chain
from tests.instances import paper_annotations, permuted, random_instance


def renamed(annotation: Annotation, rng: random.Random) -> Annotation:
    return replace(
        annotation,
        annotator=f'x"). :- not {rng.random()}. %',
        chains=tuple(
            sorted(
                (Chain(f"{10**30 + rng.randint(0, 9**20)}", chain.mentions) for chain in annotation.chains),
                key=lambda chain: chain.id,
            )
        ),
    )


def test_names_ids_and_order_do_not_reach_the_program() -> None:
    rng = random.Random(3)
    for _ in range(50):
        instance = random_instance(rng, decisions=True, odd=True)
        order = rng.sample(range(len(instance.annotations)), len(instance.annotations))
        other = permuted(instance, order)
        other = replace(other, annotations=tuple(renamed(one, rng) for one in other.annotations))
        for encoding in FIGURES:
            assert program(instance, encoding) == program(other, encoding)


@pytest.mark.parametrize("encoding", FIGURES)
def test_the_printed_program_runs_by_itself(encoding: str) -> None:
    control = clingo.Control(["--opt-strategy=usc,oll,disjoint,stratify"])
    control.add("base", [], program(Instance(paper_annotations()), encoding))
    control.ground([("base", [])])
    costs: list[int] = []
    control.solve(on_model=lambda model: costs.extend(model.cost))
    assert costs[-1] == 12


def test_every_encoding_file_says_what_it_is() -> None:
    for name in {*FIGURES["mm"], *FIGURES["cm"], "cm_order"}:
        assert figure(name).startswith("% ")


def test_annotators_who_marked_nothing_count() -> None:
    nobody = replace(paper_annotations()[0], annotator="e", chains=())
    text = program(Instance((*paper_annotations(), nobody)), "mm")
    assert "annotator(5)." in text
