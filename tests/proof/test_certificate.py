"""A certificate file is read as it was written, and everything else is refused with what was found."""

import json
from typing import Any

import pytest

from caspr.errors import EngineError, InputError
from caspr.proof.certificate import Certificate, read_certificate, read_entries, read_key, write_certificates
from caspr.task.decisions import Decisions, Rule, Statement, StatementKind
from caspr.task.own_rules import Consequence, DerivedRules, Effect, RuleFile
from caspr.task.settings import Settings
from caspr.text.document import Chain, Span

TOKENS = 9
DECISIONS = Decisions.of(
    [Chain.of("1", [(1, 3), (6, 6)]), Chain.of("2", [(4, 4)])],
    [8],
    [
        Statement.of(StatementKind.ENFORCED, [(5, 5)], "x"),
        Statement.of(StatementKind.TOGETHER, [(7, 7), (9, 9), (2, 2)]),
        Statement.of(StatementKind.TOGETHER, [(7, 7), (9, 9)]),
        Statement.of(StatementKind.EXISTS, [(7, 7)]),
        Statement.of(StatementKind.ABSENT, [(1, 9)]),
        Statement.of(StatementKind.APART, [(5, 5), (7, 7)]),
    ],
)


def written(decisions: Decisions = DECISIONS) -> dict[str, Any]:
    file = write_certificates([Certificate(("song", None), Settings(), decisions, {"value": 3})])
    plain: dict[str, Any] = json.loads(json.dumps(file))
    return plain


def test_what_is_written_is_read() -> None:
    (entry,) = read_entries(written())
    assert read_key(entry, 1) == ("song", None)
    assert read_certificate(entry, ("song", None), TOKENS) == Certificate(
        ("song", None), Settings(), DECISIONS, {"value": 3}
    )


DERIVED = DerivedRules(
    (Consequence(Effect.APART_COST, (Span(1, 1), Span(4, 5)), Rule("ours.lp", 2, "a rule"), 3),)
)
RULED = Settings(rules=(RuleFile("ours.lp", "apart_cost(M1,M2,3) :- pair(M1,M2)."),))


def test_what_rules_derived_is_written_where_there_are_rules_and_read() -> None:
    for settings, rules in ((RULED, DERIVED), (RULED, DerivedRules()), (Settings(), DerivedRules())):
        certificate = Certificate(("song", None), settings, Decisions(), {"value": 3}, rules)
        (entry,) = json.loads(json.dumps(write_certificates([certificate])))["documents"]
        assert ("rules" in entry) == bool(settings.rules)
        assert read_certificate(entry, ("song", None), TOKENS) == certificate


def test_what_rules_derived_must_be_there_and_counts_without_their_files() -> None:
    (entry,) = write_certificates([Certificate(("song", None), RULED, Decisions(), {}, DERIVED)])["documents"]
    stripped = {name: value for name, value in entry.items() if name != "rules"}
    with pytest.raises(EngineError, match="malformed"):
        read_certificate(stripped, ("song", None), TOKENS)
    (plain,) = written(Decisions())["documents"]
    assert read_certificate({**plain, "rules": entry["rules"]}, ("song", None), TOKENS).rules == DERIVED


def test_statements_may_be_missing() -> None:
    entry = written(Decisions())["documents"][0]
    del entry["decisions"]["statements"]
    assert read_certificate(entry, ("song", None), TOKENS).decisions == Decisions()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ([1], "not a certificate"),
        ("caspr-certificate", "not a certificate"),
        ({"documents": [1]}, "not a certificate"),
        ({"caspr-certificate": 2, "documents": [1]}, "not a certificate"),
        ({"caspr-certificate": True, "documents": [1]}, "not a certificate"),
        ({"caspr-certificate": 1}, "no documents"),
        ({"caspr-certificate": 1, "documents": []}, "no documents"),
        ({"caspr-certificate": 1, "documents": None}, "no documents"),
        ({"caspr-certificate": 1, "documents": 5}, "5 as documents"),
        ({"caspr-certificate": 1, "documents": {"name": "song"}}, "{'name': 'song'} as documents"),
    ],
)
def test_other_files_are_refused(data: object, found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_entries(data)


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (5, "document 2: malformed"),
        ({"name": "song"}, "document 2: malformed"),
        ({"name": 5, "part": None}, r"found \(5, None\) as name and part of document 2"),
        ({"name": "song", "part": 5}, r"found \('song', 5\) as name and part"),
        ({"name": [], "part": "1"}, r"found \(\[\], '1'\) as name and part"),
    ],
)
def test_an_entry_names_its_document(entry: object, found: str) -> None:
    with pytest.raises(EngineError, match=found):
        read_key(entry, 2)
    assert read_key({"name": "song", "part": "000"}, 1) == ("song", "000")


def statement(kind: object, mentions: object, chain: object = "") -> dict[str, object]:
    return {"statements": [{"kind": kind, "mentions": mentions, "chain": chain}]}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"closed": [0]}, "0 as a token of 1 to 9"),
        ({"closed": [10]}, "10 as a token of 1 to 9"),
        ({"closed": [1.0]}, "1.0 as a token"),
        ({"closed": [True]}, "True as a token"),
        ({"closed": ["1"]}, "'1' as a token"),
        ({"closed": None}, "TypeError"),
        ({"chains": {"1": []}}, "as mentions"),
        ({"chains": {"1": [[2, 1]]}}, r"\[\[2, 1\]\] as mentions"),
        ({"chains": {"1": [[1, 1], [2, 1]]}}, "as mentions"),
        ({"chains": {"1": [[1, 10]]}}, "10 as a token"),
        ({"chains": {"1": [[1]]}}, "not enough values"),
        ({"chains": {"a\nb": [[1, 1]]}}, "as the id of a chain"),
        ({"chains": {"": [[1, 1]]}}, "as the id of a chain"),
        (statement("enforced", [[1, 1]], 5), "5 as the id of a chain"),
        (statement("enforced", [[1, 1]], "a b"), "'a b' as the id of a chain"),
        (statement("enforced", []), "as mentions"),
        (statement("exists", []), "as mentions"),
        (statement("together", [[1, 1]]), "as mentions"),
        (statement("together", [[1, 1], [1, 1]]), "as mentions"),
        (statement("apart", [[1, 1]]), "as mentions"),
        (statement("apart", [[1, 1], [2, 2], [3, 3]]), "more than two mentions apart"),
        (statement("doubtful", [[1, 1]]), "is not a valid StatementKind"),
    ],
    ids=str,
)
def test_decisions_that_cannot_be_are_refused(change: dict[str, object], found: str) -> None:
    entry = written(Decisions())["documents"][0]
    entry["decisions"].update(change)
    with pytest.raises(EngineError, match=found):
        read_certificate(entry, ("song", None), TOKENS)


def test_the_first_and_the_last_token_are_tokens() -> None:
    entry = written(Decisions())["documents"][0]
    entry["decisions"].update({"closed": [1, TOKENS], "chains": {"1": [[1, TOKENS]]}})
    assert read_certificate(entry, ("song", None), TOKENS).decisions.closed == {1, TOKENS}


def test_settings_that_are_none_are_refused() -> None:
    entry = written()["documents"][0]
    entry["settings"] = {"objective": "w"}
    with pytest.raises(InputError, match="certificate: "):
        read_certificate(entry, ("song", None), TOKENS)
    del entry["settings"]
    with pytest.raises(EngineError, match="malformed"):
        read_certificate(entry, ("song", None), TOKENS)
