"""JSON: one reader, whose messages name the line and what is wrong."""

import pytest

from caspr.errors import FormatError
from caspr.formats.containers.json import load_object, parse_kept, parse_object, parse_value


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("", 7, "malformed JSON"),
        (
            '{"a": 1,\n\n x}',
            9,
            "malformed JSON (Expecting property name",
        ),
        ('{"a": ', 7, "malformed JSON (it breaks off, column 7)"),
        ('{"a": "bc', 7, "malformed JSON (it breaks off, column 7)"),
        ('{"a": 1}\n{"a": 1}', 8, "malformed JSON (more after its end, column 1)"),
        ("[" * 200_000, 7, "JSON nested too deeply"),
        (f'{{"a": {"9" * 5000}}}', 7, "malformed JSON (Exceeds the limit"),
        ("[]", 7, "a list, not an object, in JSON"),
        ('"x"', 7, "a text, not an object, in JSON"),
        ("true", 7, "a truth value, not an object, in JSON"),
        ("null", 7, "null, not an object, in JSON"),
        ("3", 7, "a number, not an object, in JSON"),
        ('{"a": "\\ud83d"}', 7, "a lone surrogate, which is not UTF-8"),
    ],
)
def test_refused(text: str, line: int, found: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parse_kept(text, "this or that", line=7)
    assert refusal.value.line == line
    assert refusal.value.found.startswith(found)
    assert str(refusal.value).startswith(f":{line}: found {found}")
    assert ", expected this or that" in str(refusal.value)
    assert ("get or export it again" in str(refusal.value)) == (not text or "breaks off" in found)
    assert ("separate them" in str(refusal.value)) == ("more after" in found)


def test_what_is_not_written_again_may_hold_half_characters() -> None:
    assert parse_object('{"a": "\\udc00"}', "a name") == {"a": "\udc00"}


def test_any_value() -> None:
    assert parse_value("[1, null]", "a list") == [1, None]


def test_files_are_utf_8() -> None:
    assert load_object('\ufeff{"ä": 1}'.encode(), "an object") == {"ä": 1}
    with pytest.raises(FormatError, match=r":1: found byte 0xe4, which is not UTF-8"):
        load_object('{"ä": 1}'.encode("latin-1"), "an object")
    with pytest.raises(FormatError, match=r":2: found the first part of a character.*cut off"):
        load_object('{\n"ä'.encode()[:-1], "an object")
