"""What is shared between the files of one text."""

from pathlib import Path

from caspr.formats import read_all


def test_texts_and_spans_of_several_files_are_kept_once(tmp_path: Path) -> None:
    text = "#begin document (d);\n1\tAnn\t(1)\n2\tsaw\t-\n3\tAnn\t{}\n#end document\n"
    files = [tmp_path / "anna.conll", tmp_path / "ben.conll"]
    for file, last in zip(files, ("(1)", "(2)"), strict=True):
        file.write_text(text.format(last), encoding="utf-8")
    (anna,), (ben,) = read_all(files)
    assert ben.document.tokens is anna.document.tokens
    assert [chain.mentions for chain in ben.all_chains] == [((1, 1),), ((3, 3),)]
    spans = {id(span) for file in (anna, ben) for chain in file.all_chains for span in chain.mentions}
    assert len(spans) == 2
