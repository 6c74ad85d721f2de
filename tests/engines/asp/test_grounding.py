"""Rule files: what they may say, what is refused, what is derived, and rules over large texts."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from caspr import adjudicate, read
from caspr.adjudication import adjudicate_document
from caspr.engines.asp import grounding
from caspr.engines.asp.grounding import derive, refuse_forged
from caspr.engines.asp.rule_files import VOCABULARY, parse_rules
from caspr.errors import EngineError, InputError, LimitError
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.own_rules import LIBRARY, DerivedRules, RuleFile, read_derived, write_derived
from caspr.task.settings import Settings, change
from caspr.task.stored_settings import read_settings, write_settings
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.instances import paper_annotations
from tests.sweeps import some

EXAMPLES = Path(__file__).parents[3] / "examples"
PAPER = Instance(paper_annotations())


def said(text: str, instance: Instance = PAPER) -> list[tuple[str, list[tuple[int, ...]], int]]:
    derived, _ = derive(instance, [RuleFile("ours.lp", text)])
    return [
        (one.effect.value, [tuple(span) for span in one.mentions], one.cost) for one in derived.consequences
    ]


def test_a_rule_derives_consequences_with_its_title_and_line() -> None:
    text = '\n% one with four\nforbid(M1,M2) :- text(M1,"1 2 3"), text(M2,"4").\n'
    derived, findings = derive(PAPER, [RuleFile("ours.lp", text)])
    (one,) = derived.consequences
    assert str(one.rule) == "your rule 'one with four' (ours.lp:3)"
    assert one.mentions == (Span(1, 3), Span(4, 4)) and findings == ()


def test_both_orders_and_several_reasons_count_once_and_several_rules_add_up() -> None:
    text = """together_cost(M1,M2,2) :- text(M1,"4"), text(M2,"5").
    together_cost(M2,M1,2) :- text(M1,"4"), text(M2,"5").
    together_cost(M1,M2,2) :- text(M1,"6"), text(M2,"5").
    forbid(M1,M2) :- in_chain(A,C,M1), in_chain(A,C,M2), text(M1,"2"), M1 != M2."""
    derived, _ = derive(PAPER, [RuleFile("ours.lp", text)])
    assert derived.together == {(Span(4, 4), Span(5, 5)): 4, (Span(5, 5), Span(6, 6)): 2}
    assert len(derived.statements) == 2


def test_every_word_of_the_vocabulary_has_facts() -> None:
    tokens = ["The", "baker", "sang", ".", "He", "smiled", "."]
    rows = tuple(f"d\t0\t{n}\t{word}\tX\t*\t-\t-\t-\tAnna" for n, word in enumerate(tokens))
    document = Document("d", tuple(tokens), rows=rows, sentence_ends=(4, 7))
    chain = replace(Chain.of("1", [(1, 2), (5, 5)]), name="Baker", type="person")
    one = Annotation.of("anna", document, [chain], marks={Span(5, 5): Mark("pronoun")})
    instance = Instance((one, Annotation.of("ben", document, [chain])))
    for name, arity in VOCABULARY:
        arguments = ",".join("_" * arity)
        assert said(f"forbid_mention(mid(5,5)) :- {name}({arguments}).", instance), name
    assert said('forbid_mention(M) :- entity_type(1,M,"person"), label(1,M,"pronoun").', instance)
    assert said(
        'forbid_mention(M) :- in_sentence(M,2), span(M,S,_), speaker(S,"Anna"), lower(S,"he").', instance
    )
    assert not said("forbid_mention(M) :- in_sentence(M,3).", instance)


def test_words_of_the_text_cannot_become_rules() -> None:
    words = ('"). forbid_mention(mid(1,1)). x("', "\\", "a\\", "é\n", "#script")
    document = Document("d", words)
    both = [Annotation.of(who, document, [Chain.of("1", [(n, n) for n in range(1, 6)])]) for who in "ab"]
    assert said('forbid_mention(M) :- text(M,"#nothing").', Instance(tuple(both))) == []
    assert said('forbid_mention(M) :- text(M,"a\\\\").', Instance(tuple(both))) == [
        ("forbid_mention", [(3, 3)], 0)
    ]


REFUSED = {
    '#include "/etc/passwd".': "ours.lp:1: found #include",
    "\n% #script is nowhere allowed": "ours.lp:2: found #script",
    "#script (python) import os #end.": "ours.lp:1: found #script",
    "p(@run(1)).": "ours.lp:1: found @run",
    "p :- text(M,_), M = @run(1).": "ours.lp:1: found @run",
    "#external p(1).": "ours.lp:1: found #external",
    "#theory t { }.": "ours.lp:1: found #theory",
    "&diff { a } = 1.": "ours.lp:1: found &diff",
    "#program base. #program step(t).": "ours.lp:1: found #program",
    "#heuristic p(1). [1,true]": "ours.lp:1: found #heuristic",
    "\n{ p(M) } :- text(M,_).": "ours.lp:2: found a head with a choice",
    "p(M) ; q(M) :- text(M,_).": "ours.lp:1: found a head with a choice",
    "forbid(M1,M2 :- text(M1,_).": "ours.lp:1:14-16: error: syntax error",
    'forbid(M1,M2) :- text(M1,"4").': "ours.lp:1: error: unsafe variables in: .*'M2' is unsafe",
    "forbid(M) :- text(M,_).": "ours.lp:1: found forbid/1, expected forbid with 2 arguments",
    "text(M,M) :- token(M,_).": "ours.lp:1: found a rule for text/2, which the annotations give",
    "forbid(M1,M2) :- clink(M1,M2).": "ours.lp:1: found forbid derived from the solution",
    "p(M) :- result_cm(_,M). forbid_mention(M) :- p(M).": "found forbid_mention derived from the solution",
    ":~ clink(M1,M2). [1,M1,M2]": "found a weak constraint at level 0, expected level 1",
    "a :- not b. b :- not a.": "more than one answer set",
    "a :- not a.": "no answer set",
    '% every four\n:- text(_,"4").': r"your rule 'every four' \(ours.lp:2\): this document breaks it",
    "forbid_mention(mid(1,99)).": "found tokens 1 to 99",
    "forbid_mention(7).": "as a mention, expected mid",
    "together_cost(mid(1,1),mid(2,2),-3).": "found together_cost -3, expected a cost from 0.*apart_cost 3",
    'mention_cost(mid(1,1),"x").': "as a cost, expected a whole number",
    "mention_cost(mid(1,1),1000001).": "as a cost, expected a whole number up to 1,000,000",
    "mention_cost(mid(1,1),1/0).": "operation undefined",
    "caspr_chain(1,mid(1,1)).": "found a predicate caspr_",
    "not p(M) :- text(M,_).": "found the head not p",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=REFUSED[text]):
        derive(PAPER, [RuleFile("ours.lp", text)])


def test_an_unknown_predicate_is_a_warning_with_the_nearest_name() -> None:
    for text, hint in {
        "forbid_mention(M) :- entity_typ(A,M,T).": "nothing gives entity_typ/3; is it entity_type",
        "forbid_mention(M) :- text(M).": "nothing gives text/1; is it text",
        ":- clinc(M1,M2).": "is it clink",
    }.items():
        (finding,) = (one for one in parse_rules([RuleFile("x.lp", text)]).findings)
        assert finding.code == "unknown-predicate" and hint in finding.message
    assert parse_rules([RuleFile("x.lp", "#defined p/1. forbid_mention(M) :- p(M).")]).findings == ()


def test_rules_that_derive_nothing_or_about_nothing_marked_are_reported() -> None:
    _, findings = derive(
        PAPER, [RuleFile("x.lp", 'forbid_mention(M) :- text(M,"x"). forbid_mention(mid(1,2)).')]
    )
    assert [finding.code for finding in findings] == ["unmarked-by-rules", "rule-idle", "rule-idle"]


@pytest.mark.parametrize("limits", [Limits(seconds=1.5), Limits(megabytes=300)])
def test_limits_hold_for_deriving(limits: Limits) -> None:
    endless = "p(1..100000000). q(X,Y) :- p(X), p(Y)."
    with pytest.raises(LimitError, match="limit"):
        derive(PAPER, [RuleFile("ours.lp", endless)], limits)


def test_limits_do_not_change_what_is_derived() -> None:
    files = [RuleFile("ours.lp", "apart_cost(M1,M2,3) :- linked(2,M1,M2). forbid_mention(mid(1,1)).")]
    assert derive(PAPER, files, Limits(seconds=60)) == derive(PAPER, files)


def test_what_was_derived_is_written_and_read() -> None:
    derived, _ = derive(PAPER, [RuleFile("ours.lp", "mention_cost(M,-2) :- in_chain(_,_,M).")])
    values = write_derived(derived)
    assert read_derived(values, 6) == DerivedRules(derived.consequences)
    for forged in (["forbid", [[1, 1]], 0, 0], ["forbid", [[1, 1], [2, 9]], 0, 0], ["no", [[1, 1]], 0, 0],
                   ["mention_cost", [[1, 1]], 2.5, 0], ["mention_cost", [[1, 1]], 1, 7]):  # fmt: skip
        with pytest.raises((InputError, ValueError)):
            read_derived({**values, "derived": [forged]}, 6)


def test_settings_keep_rules_by_content() -> None:
    settings = change(Settings(), {"rules": ["same-type", RuleFile("ours.lp", "p.")]})
    assert [file.name for file in settings.rules] == ["same-type.lp", "ours.lp"]
    assert read_settings(write_settings(settings)).rules == settings.rules
    assert change(settings, {"rules": "none"}).rules == ()
    with pytest.raises(InputError, match="found no file 'sametype', expected one, or one of same-type"):
        change(Settings(), {"rules": "sametype"})


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_can_be_used_on_every_example(name: str) -> None:
    files = [read(path) for path in sorted((EXAMPLES / "scene").glob("*.conll"))]
    (result,) = adjudicate(files, rules=name)
    assert result.status == "optimal"
    assert not any(finding.code == "unknown-predicate" for finding in result.findings)


def labelled(rng: random.Random) -> list[Annotation]:
    """Make a document whose mentions have labels, types and places."""
    tokens = rng.randint(6, 14)
    document = Document("d", tuple(rng.choice("ab") for _ in range(tokens)), sentence_ends=(3, 6))
    spans = [Span(token, token) for token in range(1, tokens + 1)]
    labels = {span: Mark(rng.choice(["sg", "pl", ""])) for span in spans}

    def chains() -> list[Chain]:
        groups = [[span for span in spans if rng.random() < 0.6] for _ in range(2)]
        made = [Chain.of(str(number), group) for number, group in enumerate(groups) if len(group) > 1]
        return [replace(chain, type=rng.choice(["person", "place", ""])) for chain in made]

    return [Annotation.of(name, document, chains(), marks=labels) for name in ("anna", "ben", "carla")]


RULES = (
    'forbid(M1,M2) :- label(A,M1,"sg"), label(A,M2,"pl").',
    "forbid(M1,M2) :- entity_type(A,M1,T), entity_type(A,M2,U), T != U.",
    "together_cost(M1,M2,2) :- text(M1,T), text(M2,U), T != U.",
    "together_cost(M1,M2,1) :- in_sentence(M1,N), in_sentence(M2,K), N < K.",
    "forbid(M1,M2) :- span(M1,S,_), span(M2,S+1,_).",
    'apart_cost(M1,M2,2) :- label(_,M1,"pl"), label(_,M2,"pl"), M1 < M2.',
    'mention_cost(M,2) :- lower_text(M,"a").',
)


def test_rules_about_pairs_of_chains_lead_to_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask about the chains of solutions only, as in a large text, and compare with asking about all pairs."""
    for seed in some(range(60), 12):
        rng = random.Random(seed)
        annotations = labelled(rng)
        text = "\n".join(rng.sample(RULES, rng.randint(1, 3)))
        settings = change(Settings(), {"rules": RuleFile("ours.lp", text)})
        full = adjudicate_document(annotations, settings=settings)
        monkeypatch.setattr(grounding, "MANY", 0)
        lazy = adjudicate_document(annotations, settings=settings)
        monkeypatch.undo()
        assert (lazy.value, lazy.status) == (full.value, full.status) and lazy.status == "optimal", seed
        assert set(lazy.instance.rules.consequences) <= set(full.instance.rules.consequences), seed
        refuse_forged(lazy.instance, settings.rules)
        refuse_forged(full.instance, settings.rules)


def test_what_rules_do_not_derive_is_found_out() -> None:
    files = [RuleFile("ours.lp", "mention_cost(M,2) :- in_chain(1,_,M).")]
    derived, _ = derive(PAPER, files)
    refuse_forged(PAPER.under(derived), files)
    for forged in (
        derived.consequences[1:],
        (*derived.consequences, replace(derived.consequences[0], cost=3)),
    ):
        with pytest.raises(EngineError, match="derive"):
            refuse_forged(PAPER.under(DerivedRules(forged)), files)


ABOUT_SOLUTION = """
% no chain with both
:- result_cm(C,M1), result_cm(C,M2), text(M1,"1 2 3"), text(M2,"5").
% four costs
:~ result_cm(_,M), text(M,"4"), annotator_name(1,"a"). [5@1,M]
"""


@pytest.mark.parametrize("encoding", ["mm", "cm"])
def test_rules_about_the_solution_go_to_clingo(encoding: str) -> None:
    rules = RuleFile("ours.lp", ABOUT_SOLUTION)
    plain, ruled = (
        adjudicate_document(
            paper_annotations(), settings=change(Settings(), {"encoding": encoding, "rules": given})
        )
        for given in ([], [rules])
    )
    assert (plain.engine, ruled.engine, ruled.status) == ("native", "clingo", "optimal")
    assert ruled.costs.rules in (0, 5) and ruled.costs.total == ruled.value >= plain.value
    assert not any({Span(1, 3), Span(5, 5)} <= set(chain.mentions) for chain in ruled.chains)
    assert "rules-about-solution" in {finding.code for finding in ruled.findings}
    with pytest.raises(InputError, match="only engine clingo"):
        adjudicate_document(
            paper_annotations(), settings=change(Settings(), {"engine": "native", "rules": rules})
        )


def test_rules_about_the_solution_that_leave_none() -> None:
    text = (
        "require_mention(mid(1,3)). :- resultchain(C), #count { M : result_cm(C,M) } > 9.\n:- resultchain(_)."
    )
    rules = RuleFile("ours.lp", text)
    with pytest.raises(InputError, match=r"no solution respects these rules[^;]*ours.lp:2\)$"):
        adjudicate_document(paper_annotations(), settings=change(Settings(), {"rules": rules}))


@pytest.mark.parametrize("tale", ["market", "miller", "storm"])
@pytest.mark.parametrize("rules", ["market.lp", "first.lp"])
def test_native_and_clingo_agree_on_the_examples(tale: str, rules: str) -> None:
    files = [read(path) for path in sorted((EXAMPLES / "tales" / tale).glob("*.conll"))]
    native, clingo = (
        adjudicate(files, rules=EXAMPLES / "rules" / rules, engine=engine)[0]
        for engine in ("native", "clingo")
    )
    assert (native.status, native.value) == (clingo.status, clingo.value)
    assert native.status == "optimal"
