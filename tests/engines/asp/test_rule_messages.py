"""What people are told who write their first rules: the file, the line, and what to type instead."""

import random
import re

import pytest

from caspr.engines.asp import grounding
from caspr.engines.asp.grounding import derive
from caspr.engines.asp.rule_errors import code_of
from caspr.engines.asp.rule_files import parse_rules
from caspr.errors import CasprError, InputError
from caspr.task.instance import Instance
from caspr.task.own_rules import RuleFile, rule_findings
from tests.instances import paper_annotations

PAPER = Instance(paper_annotations())

HINTS = {
    "% ü\nforbid_mention(M) :- text(M,“the market”).": "^ours.lp:2: found “, expected straight quotes",
    "forbid_mention(M) :- text(M,„the market“).": "found „, expected straight quotes",
    'fürwort("she").': "found fürwort, expected words of your own in a to z",
    'a("ü").\n\u00a0b.': r"^ours.lp:2: found a special character \(no-break space\)",
    'a("\0").': r"found a special character \(character 0\)",
    "a(M) :- token(M,_), M ≠ 3.": "found ≠, expected !=",
    "a(M)：- token(M,_).": "found ：, expected :$",
    'a("ü\\x").': "found ü, expected words of the text between two double quotes",
    'a("x) :- b("ü").': "found ü, expected words of the text between two double quotes",
    'forbid(M1,M2) <- text(M1,"a").': "'if' is written :-",
    'forbid(M1,M2) <- text(M1,"a"), text(M2,"b").': "'if' is written :-",
    'forbid(M1,M2) := text(M1,"a").': "'if' is written :-",
    'if text(M,"a") then forbid_mention(M).': "instead of 'if', write :-",
    'forbid_mention(M) if text(M,"a").': "instead of 'if', write :-",
    'a(M) :- text(M,"a") and span(M,1,_).': "instead of 'and', write a comma",
    'a(M) :- text(M,"a") or text(M,"b").': "instead of 'or', write two rules",
    "a(M,N) :- span(M,_,_), span(N,_,_), M =/= N.": "'differs' is written !=",
    "mention_cost(M,1.5) :- text(M,_).": "numbers are whole",
    'a(M) :- text(M,"a", span(M,1,_).': "is a closing parenthesis missing",
    'a(M) :- text(M,"a")), span(M,1,_).': "is there one parenthesis too many",
    'Kind(M) :- text(M,"a").': "words of your own begin with a small letter: kind",
    'a(M) :- text(M,"a") span(M,1,_).': "is a comma missing before span",
    'a(M) :- text(M,"a), span(M,1,_).': "is a double quote missing",
    "a(M) :- text(M,the market).": "words of the text stand between double quotes",
    '% one\n\na(M) :- text(M,"ü")\n\nb(M) :- text(M,_).': "^ours.lp:5:.*the rule that begins in line 3 end",
    "a(M) :- text(M,_),\nb(M) :- text(M,_).": "^ours.lp:2:.*the rule that begins in line 1 end",
    "a.\nb": "does the rule that begins in line 2 end with a full stop",
    'forbid(M1,M2) :- text(M1,"4"), lower_text(m2,"m1").': "what M2 is: m2 there begins with a small letter$",
    'forbid(M1,M2) :- text(M1,"4").': r"ours.lp:1: nothing on the right says what M2 is; text\(M2,_\)",
    "forbid(M1,_) :- text(M1,_).": "nothing on the right says what _ on the left is",
    ":- resultchain(C), not result_cm(C,M).": "^ours.lp:1: nothing on the right says what M is",
    "a.\n:~ resultchain(C). [W@1,C]": "^ours.lp:2: nothing on the right says what W is",
    'mention_cost(M,"2") :- text(M,"4").': r"found .2. \('4' at token 4\), expected 2 without quotes",
    ':- text(M,"4").': r"rule ':- text\(M,.4.\).' \(ours.lp:1\): .* breaks it, first at '4' at token 4",
    ":- annotator(M).": "this document breaks it$",
}  # fmt: skip


@pytest.mark.parametrize("text", HINTS)
def test_what_is_wrong_is_said_with_what_to_type(text: str) -> None:
    with pytest.raises(InputError, match=HINTS[text]):
        derive(PAPER, [RuleFile("ours.lp", text)])


def test_a_syntax_error_without_a_known_reason_gets_no_hint() -> None:
    with pytest.raises(InputError, match=r"unexpected \.$"):
        derive(PAPER, [RuleFile("ours.lp", "a(M) :- text(M,_), .")])


def test_any_language_may_stand_in_strings_and_comments() -> None:
    text = '%* “block”\nfür *%\n% „Zeile“\nforbid_mention(M) :- text(M,"für\\"日本 ").'
    assert parse_rules([RuleFile("ours.lp", text)]).findings == ()
    assert code_of(text).split() == ["forbid_mention(M)", ":-", 'text(M,"' + "_" * 13 + '").']


def test_no_text_ends_the_process() -> None:
    """Clingo's interface ends it where a message is cut within a character."""
    pieces = [
        '"',
        "ü",
        "“",
        "\\",
        "a(M)",
        " :- ",
        ".",
        "%",
        "%*",
        "*%",
        "\n",
        "'",
        "\u00a0",
        "b",
        "text(M,_)",
    ]
    for seed in range(2000):
        rng = random.Random(seed)
        text = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        try:
            derive(PAPER, [RuleFile("ours.lp", text)])
        except CasprError as error:
            assert str(error).startswith(("ours.lp:", "your rule")), text


PIECES = (
    "a(1).",
    ' b( -1 , "x é"). c(x).',
    'a("\\"q"). a(0).\r',
    "not(a).",
    "c(007).",
    "c(-0).",
    "text(1,1).",
    "forbid_mention(a).",
    "caspr_b(1).",
    "#const n=3.",
    "c(n).",
    "forbid(M1,M2) :- span(M1,_,_), text(M2,_),",
    "%* so",
    "b(2). *%",
    "c(1..",
    "2).",
    "a(1;2).",
    "a(f(1)).",
    ":~ c(1). [1@1]",
)


def test_plain_facts_are_read_quickly_and_mean_the_same() -> None:
    """A line with a comment is left to clingo's parser."""

    def read(lines: list[str]) -> object:
        try:
            parsed = parse_rules([RuleFile("ours.lp", "\n".join(lines) + "\n")])
        except InputError as error:
            return re.sub(r":\d+-\d+", "", str(error))  # a comment changes where clingo sees the end
        rules = [
            (rule.text, rule.head, rule.arguments, rule.asks, rule.odd, rule.rule.line)
            for rule in (*parsed.about_input, *parsed.about_solution)
        ]
        return rules, parsed.findings, parsed.asked

    for seed in range(2000):
        rng = random.Random(seed)
        lines = rng.choices(PIECES, k=rng.randint(1, 6))
        assert read(lines) == read([line.rstrip("\r") + " % so" for line in lines]), lines


WARNINGS = {
    "forbidd(M1,M2) :- linked(_,M1,M2).": r"ours.lp:1: nothing uses forbidd/2; did you mean forbid\(M1,M2\)",
    "mention_costs(M,1) :- text(M,_).": r"nothing uses mention_costs/2; did you mean mention_cost\(M,W\)\?",
    "require_mentions(M) :- text(M,_).": r"did you mean require_mention\(M\)\?",
    "kind(M,x) :- text(M,_).": "nothing uses kind/2$",
    "% nothing yet\n": "ours.lp: no rule in this file",
    'forbid_mention(M) :- entity_nam(_,M,"x").': r'did you mean entity_name\(A,M,"Sir William"\)\?$',
    "forbid_mention(m1) :- text(m1,_).": "m1 begins with a small letter",
    "knd(M,x) :- text(M,_). forbid_mention(M) :- kind(M,x).": r"nothing gives kind/2; did you mean knd/2\?$",
    'man("he"). forbid_mention(M) :- text(M,W), man(w), W != "".': r"gives man\(w\); did you mean W\?$",
    'a(M,person) :- text(M,"he"). forbid_mention(M) :- a(M,persn).': (
        r"nothing gives a\(M,persn\); did you mean person\?$"
    ),
    'man("he"). forbid_mention(M) :- text(M,_), not man(7).': r"nothing gives man\(7\)$",
}


@pytest.mark.parametrize("text", WARNINGS)
def test_what_has_no_effect_is_one_warning(text: str) -> None:
    (finding,) = parse_rules([RuleFile("ours.lp", text)]).findings
    assert finding.severity == "warning" and re.search(WARNINGS[text], finding.message)


@pytest.mark.parametrize(
    "text",
    [
        "#defined kind/2. kind(1,2).",
        "a(1). #show a/1. :- a(M), text(M,_).",
        "#defined kind/2. kind(1,2). :- kind(1,3).",
        "a(1..2). c(M) :- text(M,_). #const n = 1. d(1). :- a(2), c(mid(1,1)), d(n), d(D), d(3-2), D > 1.",
    ],
)
def test_what_is_declared_or_asked_for_is_no_warning(text: str) -> None:
    assert parse_rules([RuleFile("ours.lp", text)]).findings == ()


def test_a_rule_about_an_annotator_who_is_not_there_names_those_who_are() -> None:
    text = 'trusted("clara"). forbid_mention(M) :- trusted(N), annotator_name(A,N), in_chain(A,_,M).'
    _, (finding,) = derive(PAPER, [RuleFile("ours.lp", text)])
    assert re.search(r'nothing derived here \(the annotators are "\w+", ', finding.message)


def test_a_rule_about_words_that_the_text_does_not_have_names_them() -> None:
    text = 'forbid_mention(M) :- text(M,"xyzzy"), not text(M,"plugh"), span(T,_,_) : text(T,"a").'
    _, (finding,) = derive(PAPER, [RuleFile("ours.lp", text)])
    assert finding.message.endswith('nothing derived here, since these files have no text "xyzzy"')


def test_notes_on_a_large_text_say_which_pairs_were_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "MANY", 0)
    text = """forbid(M1,M2) :- text(M1,"4"), text(M2,"5").
    forbid(M1,M2) :- text(M1,"4"), label(_,M2,"pl").
    forbid(M1,M2) :- text(M1,"4"), text(M2,"xyzzy"), not text(M2,"plugh")."""
    derived, findings = derive(PAPER, [RuleFile("ours.lp", text)])
    notes = [*findings, *rule_findings(derived)]
    assert [note.code for note in notes] == ["rule-idle"] * 3
    assert "it fits no pair asked about: it is not needed, or says" in notes[0].message
    assert notes[1].message.endswith("it fits no pair asked about, since these files have no label")
    assert notes[2].message.endswith(', since these files have no text "xyzzy"')
    together = (tuple(span for span in PAPER.votes.marks if span.start == span.end),)
    notes = list(rule_findings(grounding.derive_within(PAPER.under(derived), together)))
    assert "1 pair kept apart, of those asked about" in notes[0].message
