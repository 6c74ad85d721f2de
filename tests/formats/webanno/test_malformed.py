"""Malformed WebAnno TSV files, each refused in one line that names the place."""

from pathlib import Path

import pytest

from tests.formats.sound import refused

SHELF = [
    # name, what to replace, by what, what the message says
    ("x.tsv", "*->1-2", "nonsense", r"x\.tsv:7: found 'nonsense'"),
    ("x.tsv", "\tpro[1]\t", "\t", r"x\.tsv:7: found 1 cells, expected 2"),
    ("x.tsv", "1-3\t", "1-2\t", r"x\.tsv:8: found row 1-2 for the second time"),
    ("x.tsv", "11-15", "1-15", r"x\.tsv:9: found token"),
    ("x.tsv", "8-10\t", "8-9\t", r"x\.tsv:8: found token"),
    ("x.tsv", "1-4\t11-15", "here", r"x\.tsv:9"),
    ("x.tsv", "TSV 3.3", "TSV 2.0", r"x\.tsv:1: found '#FORMAT"),
    ("x.tsv", "#T_CH", "#T_SP", "no layer with chains or relations, only webanno"),
    ("r.tsv", "1-3[2_1]", "1-3[7_1]", r"r\.tsv:6: found a relation to annotation 7 in row 1-3, expected"),
    ("r.tsv", "p[1]\tcoref\t1-3[2_1]", "p[1]|q[3]\tcoref\t1-3[2_0]", r"the number of one of \[1\], \[3\]"),
    ("x.tsv", "#FORMAT=", " # ", "found WebAnno TSV 2, an old version, expected version 3: import"),
    ("r.tsv", "1-3[2_1]", "nowhere", r"r\.tsv:6: found 'nowhere'"),
    ("r.tsv", "BT_webanno.custom.R", "BT_other", "relation layer webanno.custom.Coref on 'other'"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), SHELF)
def test_malformed_files(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    refused(tmp_path, name, old, new, message)
