"""Files of formats that are not read are named, with the nearest format and what to do."""

import gzip
import re
from pathlib import Path

import pytest

from caspr.errors import FormatError
from caspr.formats.foreign import Signs, nearest
from caspr.formats.registry import FORMATS, detect
from caspr.formats.sources import read_one

UNKNOWN: dict[str, tuple[str | bytes, str, str]] = {
    "prodigy.jsonl": ('{"text":"A","_input_hash":1,"relations":[]}\n', "an export of Prodigy", "fastcoref"),
    "doccano.jsonl": ('{"text":"A","entities":[{"start_offset":0}]}', "an export of doccano", "fastcoref"),
    "labels.jsonl": (
        '{"text":"A","label":[[0,1,"P"]]}',
        "an export of doccano, without relations",
        "fastcoref",
    ),
    "allen.json": ('{"document":["A"],"clusters":[],"top_spans":[]}', "the output of AllenNLP", "jsonlines"),
    "core.json": ('{"sentences":[],"corefs":{"1":[]}}', "the output of CoreNLP", "jsonlines"),
    "data.jsonl": ('{"sentences":[],"coref_chains":[[]]}', "a file of coref-data", "jsonlines"),
    "min.json": (
        '[{"label":[{"start":0,"labels":["P"]}]}]',
        "the export JSON-MIN of Label Studio",
        "labelstudio",
    ),
    "potato.jsonl": ('{"instance_id":"d","user_id":"a","links":{}}', "an export of Potato", "potato"),
    "any.json": ('{"chains":[[[0,4]]]}', "JSON of an unknown kind", "jsonlines"),
    "list.json": ("[[[0,4]]]", "JSON of an unknown kind", "jsonlines"),
    "tei.xml": ("<?xml version='1.0'?>\n<TEI><text/></TEI>", "a TEI document", "brat"),
    "naf.xml": ("<NAF><coreferences/></NAF>", "a NAF or KAF document", "jsonlines"),
    "core.xml": (
        "<root><coreference>\n<coreference/></root>",
        "the output of CoreNLP",
        "jsonlines",
    ),
    "x_words.xml": ("<!DOCTYPE words>\n<words><word/></words>", "a part of an MMAX2 project", "mmax"),
    "types.xml": ("<typeSystemDescription/>", "a type system of UIMA", "cas"),
    "glozz.aa": ("<annotations>\n<unit id='a'/>", "a file of Glozz", "brat"),
    "ecb.xml": ("<Document><token t_id='1'>A</token></Document>", "a file of ECB+ or CAT", "jsonlines"),
    "page.html": ("<!DOCTYPE html>\n<html>A</html>", "a web page", "brat"),
    "book.xml": ("<!-- a --><book>A</book>", "XML of an unknown kind (<book>)", "brat"),
    "marks.csv": ("doc,start,end,entity\nd,0,4,1\n", "a table with a row for each mention", "fastcoref"),
    "marks.tsv": ("doc\tbegin\tend\tchain\nd\t0\t4\t1\n", "a table with a row for each mention", "fastcoref"),
    "webanno.tsv": ("1-1\t0-4\tAnna\t*[1]\n", "WebAnno TSV without its header", "webanno"),
    "litbank.ann": ("MENTION\tT1\t0\t2\nCOREF\tT1\tx-0\n", "LitBank's table of mentions", "brat"),
    "bio.conll": ("Anna NNP B-PER\nslept VBD O\n", "named entities in columns (BIO)", "conll"),
    "text.txt": ("Anna slept. She dreamt.\n", "a text without annotations", "brat"),
    "schema.sacr": ("PROP:name=EN\n$$$\np PER\n", "a schema of SACR, which has no text", "sacr"),
    "lost.sacr": ("<!DOCTYPE html><html>404</html>", "a web page", "brat"),
    "doc.spacy": (b"x\x9c\x8d\x90", "a file packed by zlib, such as a DocBin of spaCy", "jsonlines"),
    "rows.parquet": (b"PAR1\x15", "a Parquet file", "jsonlines"),
}
"""What a file holds, what it is called in the message, and the nearest format."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_nearest_format_is_named(name: str, tmp_path: Path) -> None:
    content, called, near = UNKNOWN[name]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError) as caught:
        read_one(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:1: found {called}")
    assert f"the nearest format is {near}, see docs/formats/{near}.md" in message
    assert near in FORMATS


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0f14\nsize 45427\n",
            "found a pointer of Git LFS, not the file itself, expected the file that it stands for: "
            "fetch it with `git lfs pull`",
        ),
        ("/annex/objects/SHA256E-s1--ab.tsv\n", "found a pointer of git-annex"),
        ("HBEGIN:oc_encryption_module:OC_DEFAULT_MODULE:HEND---", "found a file that Nextcloud or ownCloud"),
    ],
)
def test_pointers_to_files_that_were_not_fetched(content: str, expected: str, tmp_path: Path) -> None:
    for name in ("ann/x.tsv", "ann/sub/x.xmi.gz", "bob/x.ann", "eve/x.xmi"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        with pytest.raises(FormatError, match=re.escape(f"{path}:1: {expected}")):
            read_one(path)
    with pytest.raises(FormatError, match=re.escape(expected)):
        read_one(tmp_path)


@pytest.mark.parametrize(
    ("content", "called"), [("", "an empty file"), (" \n", "an empty file"), ("7", "a file of an")]
)
def test_what_has_no_shape_at_all(content: str, called: str, tmp_path: Path) -> None:
    for name in ("x.json", "x.xml"):
        (tmp_path / name).write_text(content)
        with pytest.raises(FormatError, match=called):
            read_one(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        "1\tAnna\t(1)\n2\tslept\t-\n",
        "Anna (1)\nslept -\n",
        "d 0 1 Anna NNP * (1\n",
        "",
        "\n\n",
        "Anna -",
        "O O\nO O\n",
    ],
)
def test_columns_are_taken_for_nothing_else(text: str) -> None:
    """A file that lacks `#begin document` is refused by its own reader, which names the line."""
    assert nearest(text) is None


def test_a_text_of_a_format_by_its_name_is_not_judged_by_its_shape(tmp_path: Path) -> None:
    path = tmp_path / "x.sacr"
    path.write_text("Anna slept. She dreamt.\n")
    assert detect(path) == "sacr"
    assert nearest(path.read_text(), Signs.NAME) is None
    assert nearest(path.read_text()) is not None


@pytest.mark.parametrize("name", ["conll/anna.conll", "sacr/anna.sacr", "gate/bear.xml", "rucoco/anna.json"])
def test_packed_files_are_called_that(name: str, tmp_path: Path) -> None:
    data = (Path(__file__).parents[2] / "examples" / "formats" / name).read_bytes()
    path = tmp_path / f"{Path(name).name}.gz"
    path.write_bytes(gzip.compress(data))
    with pytest.raises(FormatError, match="found a file packed by gzip, expected the file"):
        read_one(path)
