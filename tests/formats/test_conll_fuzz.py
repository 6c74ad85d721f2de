"""Mutate valid files at random: reading them works or is refused in one line, and never takes long."""

import random
import time
from collections.abc import Callable

import pytest

from caspr.errors import CasprError
from caspr.formats import conll, review_file
from caspr.storage import decode
from caspr.text.document import Annotation
from tests.formats.test_conll import CONLL_2012
from tests.sweeps import how_many

CONLL = (
    CONLL_2012
    + """\
# caspr same-chain: 57 3
# begin document plain
1\tThe\t(3|(1
2\tgirl’s\t1)|(57|(2)
3\tNew York\t3)
#\t#\t57)

# comment
#end document
"""
)
REVIEW = """\
# caspr review: {"annotators": ["AK", "JA"], "columns": 2, "settings": {"objective": "u"}, "version": 1}
# caspr same-chain[2]: 57 3
#begin document (d);
1\tThe\t(1\t(3\t=(1
2\tgirl\t1)\t(57\t=1)|(2)
3\tsang\t-\t3)\t=-
# note
4\t.\t(1)\t57)\t(1)
#end document
"""
PIECES = [
    *(
        b"(",
        b")",
        b"|",
        b"=",
        b"-",
        b"\n",
        b"\r\n",
        b"\t",
        b" ",
        b"#",
        b"\0",
        b"\xff",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
    ),
    *(
        b"\xef\xbb\xbf",
        b"#begin document (x);\n",
        b"#end document\n",
        b"# caspr same-chain: 1 2\n",
        b"(1)",
        b"=(1",
    ),
    *(b"{", b'"', b"[", b"\\ud800", b"1" * 5000, b"(1" * 500),
]


def mutated(data: bytes, random: random.Random) -> bytes:
    """Cut, copy, insert or change a few pieces."""
    for _ in range(random.randint(1, 4)):
        start = random.randrange(len(data) + 1)
        end = min(len(data), start + random.choice((0, 1, 2, 20)))
        middle = random.choice((b"", data[start:end] * 2, random.choice(PIECES), random.randbytes(2)))
        data = data[:start] + middle + data[end:]
    return data


def fixpoint(text: str) -> None:
    """Whatever is accepted must also survive writing and reading."""
    read = conll.parse(text, "x", "Ann")
    assert conll.parse(conll.write(read), "x", "Ann") == read


def review_fixpoint(text: str) -> None:
    read = review_file.parse(text, "x")
    again = review_file.parse(review_file.write(read), "x")
    assert [(one.annotations, one.decisions) for one in again] == [
        (one.annotations, one.decisions) for one in read
    ]
    gold: list[Annotation] = [one.annotations[0] for one in read]
    assert conll.parse(conll.write(gold), "x", gold[0].annotator)[0].chains == gold[0].chains


@pytest.mark.parametrize(
    ("text", "check", "seed"), [(CONLL, fixpoint, 1), (CONLL, fixpoint, 2), (REVIEW, review_fixpoint, 3)]
)
def test_mutations(text: str, check: Callable[[str], None], seed: int) -> None:
    generator = random.Random(seed)
    accepted, cases = 0, how_many(1500, 300)
    for _ in range(cases):
        data = mutated(text.encode(), generator)
        started = time.process_time()
        try:
            check(decode(data, "x"))
            accepted += 1
        except CasprError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 400
        assert time.process_time() - started < 2
    assert accepted > cases // 15
