"""What solvers print is read back, whichever solver it was."""

import json

import pytest

from caspr.engines.asp.answers import read_answers
from caspr.errors import FormatError
from caspr.task.solution import Partition, canonical
from caspr.text.document import Span

A = "result_cm(1,mid(1,3)) result_cm(1,mid(6,6))"
B = "result_cm(mid(1,3),mid(1,3)) result_cm(mid(1,3),mid(5,5))"
BRACED = A.replace(" ", ", ")
OF_A: Partition = canonical([[Span(1, 3), Span(6, 6)]])
OF_B: Partition = canonical([[Span(1, 3), Span(5, 5)]])

CLINGO = f"""clingo version 5.8.0
Reading from p.lp
Solving...
Answer: 1 (Time: 0.001s)

Optimization: 14
Answer: 2
{A}
Optimization: 12
OPTIMUM FOUND

Models       : 2
  Optimum    : yes
Optimization : 12
"""
OUTPUTS = {
    "clingo": CLINGO,
    "clasp, an atom on each line": CLINGO.replace(A, A.replace(" ", "\n")),
    "competition": f"% Answer: 2\nANSWER\n{A.replace(' ', '. ')}.\nCOST 12\nOPTIMUM\n% Optimization : 12\n",
    "wasp": f"WASP 2.0\n\n{{}}\nCOST 14@1\n{{{BRACED}}}\nCOST 12@1\nOPTIMUM\n",
    "dlv": f"DLV [build x]\n\nBest model: {{{BRACED}}}\nCost ([Weight:Level]): <[12:1]>\nOPTIMUM\n",
    "clingo, JSON": json.dumps(
        {
            "Call": [{"Witnesses": [{"Value": [], "Costs": [14]}, {"Value": A.split(), "Costs": [12]}]}],
            "Result": "OPTIMUM FOUND",
        }
    ),
}


@pytest.mark.parametrize("text", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_solvers(text: str, end: str) -> None:
    printed = read_answers(text.replace("\n", end))
    assert printed.best.partition == OF_A
    assert printed.best.cost == 12
    assert printed.optimal


def test_the_last_without_costs_and_the_best_with_them() -> None:
    assert read_answers(f"{{{BRACED}}}\n{{{B}}}\n").best.partition == OF_B
    assert read_answers(f"Answer: 1\n{B}\nAnswer: 2\n{A}\nSATISFIABLE\n").best.partition == OF_A
    worse_last = f"Answer: 1\n{A}\nOptimization: 3\nAnswer: 2\n{B}\nOptimization: 9\nSATISFIABLE\n"
    printed = read_answers(worse_last)
    assert (printed.best.partition, printed.best.cost, printed.optimal) == (OF_A, 3, False)
    levels = f"{{{A}}}\nCOST 9@1 1@2\n{{{B}}}\nCOST 12@1 0@2\n"
    assert read_answers(levels).best.partition == OF_B, "a higher level counts first"
    assert read_answers(f"Answer: 1\n{A}\nOptimization: 12\nAnswer: 2\n{B}").best.partition == OF_A


def test_an_answer_cut_off_in_the_middle_is_not_taken() -> None:
    cut = CLINGO[: CLINGO.index("mid(6,6)")]
    assert read_answers(cut).best.cost == 14


def test_links_and_empty_answers() -> None:
    assert read_answers("Answer: 1\nclink(mid(1,3),mid(6,6))\nSATISFIABLE").best.partition == OF_A
    assert read_answers("Answer: 1\n\nSATISFIABLE").best.partition == ()
    assert read_answers("{}\n").best.partition == ()
    assert read_answers("{annotator(1), mention(1,1,1,1)}").best.partition == ()
    with pytest.raises(FormatError, match="without result_cm"):
        _ = read_answers("{a(1), b(2)}").best.partition


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "no answer set"),
        ("Solving...\nUNSATISFIABLE\n", "UNSATISFIABLE"),
        ("WASP 2.0\nINCOHERENT\n", "INCOHERENT"),
        ("#begin document (a);\n1 x (1)\n", "no answer set"),
        ('{"Call": 3}', "malformed JSON"),
        ('{"Call": [{"Witnesses": [{}]}]}', "malformed JSON"),
        ('{"Call": [{}], "Result": "UNSATISFIABLE"}', "UNSATISFIABLE"),
        ('{"Call": ', "malformed JSON"),
    ],
)
def test_no_answer(text: str, found: str) -> None:
    with pytest.raises(FormatError, match=found):
        read_answers(text)
