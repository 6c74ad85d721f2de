"""Rule files: what they may say, what is refused, what is derived, and rules over large texts."""

import random
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from caspr import adjudicate, read
from caspr.adjudication import adjudicate_document, prepare
from caspr.engines.asp import asked_pairs, grounding
from caspr.engines.asp.grounding import derive, derive_within, refuse_forged
from caspr.engines.asp.rule_files import VOCABULARY, parse_rules
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError, InputError, LimitError
from caspr.proof.verify import verify
from caspr.task.contradictions import ContradictionError
from caspr.task.decisions import Decisions
from caspr.task.instance import Instance
from caspr.task.limits import Limits
from caspr.task.own_rules import LIBRARY, DerivedRules, RuleFile, read_derived, write_derived
from caspr.task.settings import Settings, change, read_rule_files
from caspr.task.stored_settings import read_settings, write_settings
from caspr.text.document import Annotation, Chain, Document, Mark, Span
from tests.instances import paper_annotations, random_statements
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
    for name, arity in VOCABULARY.keys() - {("head", 2), ("zero", 1)}:
        arguments = ",".join("_" * arity)
        assert said(f"forbid_mention(mid(5,5)) :- {name}({arguments}).", instance), name
    assert said('forbid_mention(M) :- entity_type(1,M,"person"), label(1,M,"pronoun").', instance)
    assert said(
        'forbid_mention(M) :- in_sentence(M,2), span(M,S,_), speaker(S,"Anna"), lower(S,"he").', instance
    )
    assert not said("forbid_mention(M) :- in_sentence(M,3).", instance)


DROPPED = """# newdoc id = d
# global.Entity = eid-etype-head-other
# sent_id = s1
# speaker = Ana
1\tEl\tel\tDET\t_\t_\t2\tdet\t2:det\tEntity=(e1-person-2
2\tperro\tperro\tNOUN\t_\t_\t3\tnsubj\t3:nsubj\tEntity=e1)
3\tduerme\tdormir\tVERB\t_\t_\t0\troot\t0:root\t_

# sent_id = s2
{first}1\tDice\tdecir\tVERB\t_\t_\t0\troot\t0:root\t_
{second}2\talgo\talgo\tPRON\t_\t_\t1\tobj\t1:obj\t_

"""
NODE = "{}.1\t_\t_\tPRON\t_\t_\t_\t_\t1:nsubj\tEntity=(e1-person-1)\n"


@pytest.mark.parametrize(
    "places", [("first", "first"), ("first", "second"), ("second", None), (None, "first")]
)
def test_heads_and_zeros_and_columns_of_files_with_trees(
    places: tuple[str | None, str | None], tmp_path: Path
) -> None:
    """Empty nodes may stand at other places in other files, or be lent from one that has them."""
    for name, at in zip("ab", places, strict=True):
        nodes = {
            place: NODE.format(number) if place == at else ""
            for number, place in enumerate(("first", "second"))
        }
        (tmp_path / f"{name}.conllu").write_text(DROPPED.format(**nodes))
    files = [read(path) for path in sorted(tmp_path.glob("*.conllu"))]
    instance = Instance(prepare([file[0] for file in files])[0])
    (given,) = {
        tuple(span) for _, mentions, _ in said("forbid_mention(M) :- zero(M).", instance) for span in mentions
    }
    assert given in ((4, 4), (5, 5))
    dog = ("forbid_mention", [(1, 2)], 0)
    assert said('forbid_mention(M) :- head(M,T), token(T,"perro").', instance) == [dog]
    assert said('forbid_mention(M) :- head(M,T), column(T,4,"NOUN"), column(T,8,"nsubj").', instance) == [dog]
    assert said('forbid_mention(M) :- span(M,S,_), speaker(S,"Ana").', instance) == [dog]
    (pronoun,) = said('forbid_mention(M) :- head(M,T), column(T,4,"PRON").', instance)
    assert pronoun[1] == [given] and not said("forbid_mention(M) :- column(_,10,_), span(M,1,_).", instance)


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
    "forbid(M1,M2 :- text(M1,_).": "ours.lp:1:14-16: error: syntax error.*is a closing parenthesis missing",
    'forbid_mention(M) :- text(M,"4")': "unexpected EOF: .* begins in line 1 end with a full stop",
    'forbid_mention(M) :- text(M,"x), text(M,"y").': "ours.lp:1:.*is a double quote missing",
    "forbid_mention(M) :- text(M,'x y').": "words of the text stand between double quotes",
    'forbid(M1,M2) :- text(M1,"4").': "ours.lp:1: nothing on the right says what M2 is",
    "forbid(M) :- text(M,_).": "ours.lp:1: found forbid/1, expected forbid with 2 arguments",
    "text(M,M) :- token(M,_).": "ours.lp:1: found a rule for text/2, which the annotations give",
    "forbid(M1,M2) :- clink(M1,M2).": "ours.lp:1: found forbid derived from the solution",
    "p(M) :- result_cm(_,M). forbid_mention(M) :- p(M).": "found forbid_mention derived from the solution",
    ":~ clink(M1,M2). [1,M1,M2]": "found a weak constraint at level 0, expected level 1",
    "c.\na :- not b, c.\nb :- not a, not d.\nd :- b, not c.": (
        r"more than one answer set: .*`not`: your rule 'a.*' \(ours.lp:2\); your rule 'b.*' \(ours.lp:3\)"
    ),
    "% round\na :- not a.": r"no answer set: they go round .*: your rule 'round' \(ours.lp:2\)$",
    "a :- #count { 1 : b } = 0. b :- a.": r"no answer set: .* your rule 'a :- #count.* \(ours.lp:1\)$",
    '% every four\n:- text(_,"4").': r"your rule 'every four' \(ours.lp:2\): this document breaks it",
    "forbid_mention(mid(1,99)).": "found tokens 1 to 99",
    "forbid_mention(7). forbid_mention(mid(2,2)).": r"found forbid_mention\(7\), expected such as forbid_m",
    "together_cost(mid(1,1),mid(2,2),-3).": "found together_cost -3, expected a cost from 0.*apart_cost 3",
    'mention_cost(mid(1,1),"x").': r"found mention_cost\(mid.*expected such as mention_cost\(mid\(1,3\),2\)",
    "forbid(mid(1,1),7).": "found forbid of 1 mentions, expected 2",
    "mention_cost(mid(1,1),1000001).": "as a cost, expected a whole number up to 1,000,000",
    "mention_cost(mid(1,1),1/0).": "operation undefined",
    "caspr_chain(1,mid(1,1)).": "found a predicate caspr_",
    "not p(M) :- text(M,_).": "found the head not p",
    "-forbid(M1,M2) :- text(M1,_), text(M2,_).": "found the head -forbid",
    "forbid(M1;M2) :- text(M1,_), text(M2,_).": "found the head forbid",
    "\nmention_cost(M,2147483648) :- text(M,_).": "ours.lp:2: found 2147483648, expected numbers up to",
    "mention_cost(M,0xfffffffff) :- text(M,_).": "found 0xfffffffff, expected numbers up to",
    f"p.\np({'f(' * 3000}1{')' * 3000}).": "ours.lp:2: found terms nested too deeply",
    f"p.\np({'f(' * 30000}1{')' * 30000}).": "ours.lp:2: found a rule of over 50,000 characters",
    "result_cm(1,mid(1,1)).": "found a rule for result_cm/2, which the encoding uses",
    "{ clink(M1,M2) } :- text(M1,_), text(M2,_).": "found a rule for clink/2, which the encoding uses",
    ":- resultchain(1). cost(omit,0).": "found a rule for cost/2, which the encoding uses, expected another",
    ":- resultchain(1). #const omit=use.": "found a rule for omit/0, which the encoding uses",
    ":~ resultchain(C). [-5@1,C]": "found a cost of -5, expected one from 0",
}


def test_words_of_the_encoding_may_be_used_where_no_rule_is_about_the_solution() -> None:
    assert len(said('cost(omit,M) :- text(M,"4"). forbid_mention(M) :- cost(omit,M).')) == 1
    # Other numbers of arguments make other words.
    parse_rules([RuleFile("ours.lp", "named(C) :- result_cm(C,_). :- resultchain(C), not named(C).")])


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=REFUSED[text]):
        derive(PAPER, [RuleFile("ours.lp", text)])


def test_an_unknown_predicate_is_a_warning_with_the_nearest_name() -> None:
    for text, hint in {
        "forbid_mention(M) :- entity_typ(A,M,T).": "nothing gives entity_typ/3; did you mean entity_type",
        "forbid_mention(M) :- text(M).": "nothing gives text/1; did you mean text",
        ":- clinc(M1,M2).": "did you mean clink",
    }.items():
        (finding,) = (one for one in parse_rules([RuleFile("x.lp", text)]).findings)
        assert finding.code == "unknown-predicate" and hint in finding.message
    assert parse_rules([RuleFile("x.lp", "#defined p/1. forbid_mention(M) :- p(M).")]).findings == ()


@pytest.mark.parametrize(
    ("text", "said"),
    {
        'forbid(M1,M2) :- text(M1,She), text(M2,"4").': "She stands only once.*a word needs quotes",
        'forbid_mention(M) :- lower_text(M,"The Ship").': 'write "the ship" for "The Ship"',
        "forbid_mention(M) :- text(M,'she').": "'she' stands without double quotes.*written .she.$",
        "forbid_mention(M) :- label(_,M,pronoun).": "pronoun stands without double quotes",
        'forbid(m1,M2) :- text(M2,"4").': "m1 begins with a small letter.*write M1",
    }.items(),
)
def test_what_is_hardly_meant_is_a_warning(text: str, said: str) -> None:
    (finding,) = parse_rules([RuleFile("ours.lp", text)]).findings
    assert finding.code == "odd-rule" and re.search(f"^ours.lp:1: .*{said}", finding.message)


def test_a_rule_that_asks_for_what_files_lack_says_so() -> None:
    text = 'plural(M) :- label(_,M,"pl"). forbid(M1,M2) :- plural(M1), in_sentence(M2,3), text(M2,_).'
    _, (finding,) = derive(PAPER, [RuleFile("x.lp", text)])
    assert finding.message.endswith(
        "nothing derived here, since these files have no in_sentence and no label"
    )


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
    with pytest.raises(LimitError, match="limit"):
        refuse_forged(PAPER, [RuleFile("ours.lp", endless)], limits=limits)


def test_rules_without_an_end_stop_before_the_machine_has_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "free_megabytes", lambda: 300)
    with pytest.raises(LimitError, match="more memory than is free here"):
        derive(PAPER, [RuleFile("ours.lp", "p(0). p(X+1) :- p(X).")], Limits(interruptible=True))


def test_limits_hold_for_what_is_asked_about_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "p(0). p(X+1) :- p(X). forbid(M1,M2) :- p(-1), text(M1,_), text(M2,_)."
    monkeypatch.setattr(grounding, "MANY", 0)
    monkeypatch.setattr("caspr.adjudication.LEAST_FOR_RULES", 0.5)
    settings = change(Settings(), {"rules": RuleFile("ours.lp", endless), "time_limit": 0.1})
    with pytest.raises(LimitError, match="deriving took longer"):
        adjudicate_document(paper_annotations(), settings=settings)


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
    with pytest.raises(InputError, match="there is no file 'sametype'; CaspR comes with same-type"):
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
    "together_cost(M1,M2,3) :- linked(_,M2,M1), in_sentence(M1,N), in_sentence(M2,K), K < N.",
    'apart_cost(M1,M2,2) :- label(_,M1,"pl"), label(_,M2,"pl"), M1 < M2.',
    'mention_cost(M,2) :- lower_text(M,"a").',
)


@pytest.mark.parametrize("links", [0, 1_000_000])
def test_rules_about_pairs_of_chains_lead_to_the_same_optimum(
    monkeypatch: pytest.MonkeyPatch, links: int
) -> None:
    """Ask about the chains of solutions, and of annotators if there are few links, or about all pairs."""
    for seed in some(range(60), 12):
        rng = random.Random(seed)
        annotations = labelled(rng)
        text = "\n".join(rng.sample(RULES, rng.randint(1, 3)))
        settings = change(Settings(), {"rules": RuleFile("ours.lp", text)})
        full = adjudicate_document(annotations, settings=settings)
        monkeypatch.setattr(grounding, "MANY", 0)
        monkeypatch.setattr(grounding, "MANY_LINKS", links)
        lazy = adjudicate_document(annotations, settings=settings)
        monkeypatch.undo()
        assert (lazy.value, lazy.status) == (full.value, full.status) and lazy.status == "optimal", seed
        assert set(lazy.instance.rules.consequences) <= set(full.instance.rules.consequences), seed
        refuse_forged(lazy.instance, settings.rules, lazy.solution.partitions[0])
        refuse_forged(full.instance, settings.rules)


@pytest.mark.parametrize(
    "text",
    [
        "first(M) :- M = #min { X: text(X,_) }.",
        'first(M) :- M = #max { 1: text(_,"}"); X: own(Y,X) }. own(Y,M) :- label(_,M,Y).',
        "first(M) :- N = #max { X: text(X,_) }, M = N.",
        "own(N) :- text(M,_), M = N. first(M) :- own(M), M = #min { X: own(X) }.",
        "first(M) :- M = #min { X: text(N,_), X = Y, Y = N }.",
        "own(X) :- text(N,_), X = f(N). first(M) :- text(M,_), f(M) = #min { X: own(X) }.",
        "first(M) :- text(M,_), f(M) = #min { X: text(N,_), X = f(N) }.",
        'first(M) :- M = #min { X: text(X,_) }, 1 = #count { X: text(_,X) }, not other("a").',
    ],
)
def test_rules_that_take_the_first_of_some_mentions_tell_them_apart(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Where it is first, a mention is not like others with the same words."""
    document = Document("d", ("a",) * 6)
    marks = {Span(token, token): Mark("name") for token in range(1, 7)}
    chain = [Chain.of("1", marks)]
    annotations = [Annotation.of(name, document, chain, marks=marks) for name in ("anna", "ben", "carla")]
    rules = RuleFile("ours.lp", f"{text} forbid(M1,M2) :- first(M1), text(M2,_), M1 != M2.")
    monkeypatch.setattr(grounding, "MANY", 0)
    result = adjudicate_document(annotations, settings=change(Settings(), {"rules": rules}))
    assert (result.value, len(result.chains[0].mentions)) == (30, 5)


@pytest.mark.parametrize(
    "text",
    [
        "forbid(M1,M2) :- text(M1,T), text(M2,T), M1 != M2. odd(M) :- forbid(M,_). "
        "together_cost(M1,M2,1) :- odd(M1), odd(M2), M1 != M2.",
        "forbid(M1,(M2;M3)) :- text(M1,T), text(M2,T), text(M3,T). "
        "together_cost(M1,M2,1) :- text(M1,T), text(M2,T), M1 != M2.",
    ],
)
def test_rules_that_are_asked_about_all_mentions_may_be_among_those_about_chains(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = Document("d", ("w",) * 6)
    chains = [Chain.of(str(start), [Span(token, token) for token in range(start, start + 3)])
              for start in (1, 4)]  # fmt: skip
    annotations = tuple(Annotation.of(name, document, chains) for name in ("anna", "ben"))
    instance, files = Instance(annotations), [RuleFile("ours.lp", text)]
    full, _ = derive(instance, files)
    monkeypatch.setattr(grounding, "MANY", 0)
    lazy, _ = derive(instance, files)
    asked = set(derive_within(instance.under(lazy), (chains[0].mentions,)).consequences)
    within = {one for one in full.consequences if set(one.mentions) <= set(chains[0].mentions)}
    assert within <= asked <= set(full.consequences)


def test_rules_about_links_are_asked_about_all_links_unless_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether anybody linked two mentions is said by kinds of mentions, or by chains if these are fewer."""
    monkeypatch.setattr(grounding, "MANY", 0)
    anyone, someone = (f"forbid(M1,M2) :- linked({who},M1,M2), M1 < M2." for who in "_A")
    for seed in range(6):
        instance = Instance(tuple(labelled(random.Random(seed))))
        derived, _ = derive(instance, [RuleFile("ours.lp", anyone)])
        same, _ = derive(instance, [RuleFile("ours.lp", someone)])
        linked = {pair for one in instance.votes.members.values() for pair in combinations(one, 2)}
        assert {one.mentions for one in derived.consequences} == linked and not derived.partial
        assert {one.mentions for one in same.consequences} == linked
        with monkeypatch.context() as changed:
            changed.setattr(asked_pairs, "TIMES", 0)
            assert derive(instance, [RuleFile("ours.lp", anyone)])[0] == derived
        with monkeypatch.context() as changed:
            changed.setattr(grounding, "MANY_LINKS", 0)
            many, _ = derive(instance, [RuleFile("ours.lp", anyone)])
            assert many.partial and not many.consequences


def test_only_pairs_that_nobody_linked_are_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "MANY", 0)
    document = Document("d", ("w",) * 5)
    a, b, c, d, e = (Span(token, token) for token in range(1, 6))
    chains = [Chain.of("1", [a, b, c])], [Chain.of("1", [c, d, e])]
    annotations = tuple(Annotation.of(name, document, one) for name, one in zip("xy", chains, strict=True))
    instance = Instance(annotations)
    derived, _ = derive(instance, [RuleFile("ours.lp", "forbid(M1,M2) :- text(M1,T), text(M2,T).")])
    assert len(derived.consequences) == 6
    ruled = instance.under(derived)
    more = derive_within(ruled, ((a, c), (b, d, e)))
    assert {one.mentions for one in more.consequences[6:]} == {(b, d), (b, e)}
    monkeypatch.setattr(grounding, "_run", None)  # clingo is not asked what is known
    assert derive_within(ruled, ((a, c), (d, e))) is derived
    assert derive_within(instance.under(more), ((b, d), (a, c))) is more


def test_the_library_asks_about_mentions_alike() -> None:
    for name in ("same-type", "different-names"):
        assert grounding._are_alike(parse_rules(read_rule_files(name))), name


def test_rules_of_one_name_and_line_add_up_in_every_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """They stand in one line below one comment, or in files of one name in different folders."""
    one = "together_cost(M1,M2,1) :- span(M1,_,_), span(M2,_,_), M1 < M2."
    other = one.replace("span(M1,_,_)", "text(M1,_)")
    both = [RuleFile("ours.lp", f"% far\n{one} {other}")]
    files = [RuleFile("ours.lp", f"% far\n{text}") for text in (one, other)]
    for given in (both, files):
        settings = change(Settings(), {"rules": [*given, given[0]]})
        full = adjudicate_document(PAPER.annotations, settings=settings)
        assert [one.rule.title for one in full.instance.rules.consequences][::15] == ["far", "far (2)"]
        with pytest.raises(EngineError, match="also derives together_cost"):
            dropped = DerivedRules(full.instance.rules.consequences[:-1])
            refuse_forged(full.instance.under(dropped), settings.rules)
        monkeypatch.setattr(grounding, "MANY", 0)
        lazy = adjudicate_document(PAPER.annotations, settings=settings)
        monkeypatch.undo()
        assert lazy.value == full.value == 14


def ragged(rng: random.Random) -> list[Annotation]:
    """Make annotators who mark the same mentions with boundaries, labels and chains of their own."""
    tokens = rng.randint(8, 14)
    document = Document("d", tuple(rng.choice("ab") for _ in range(tokens)), sentence_ends=(3, 6))
    starts = rng.sample(range(1, tokens), rng.randint(3, 4))

    def annotator(name: str) -> Annotation:
        spans = [Span(start, min(tokens, start + rng.choice([0, 1, 1, 2]))) for start in starts]
        marks = {span: Mark(rng.choice(["sg", "pl", ""])) for span in spans}
        groups: list[list[Span]] = [[], []]
        for span in spans:
            rng.choice(groups).append(span)
        made = [Chain.of(str(number), group) for number, group in enumerate(groups) if len(group) > 1]
        return Annotation.of(name, document, [replace(c, type=rng.choice("xy")) for c in made], marks=marks)

    return [annotator(name) for name in ("anna", "ben", "carla")]


MORE_RULES = (
    'require(M1,M2) :- label(1,M1,"pl"), label(2,M2,"pl"), M1 != M2, span(M1,S,_), S < 4.',
    "require_mention(M) :- in_chain(1,_,M), in_chain(2,_,M), span(M,S,S+1).",
    'forbid_mention(M) :- lower_text(M,"b a").',
    "mention_cost(M,-3) :- acmen(3,_,M).",
    "apart_cost(M1,M2,2) :- span(M1,S,_), span(M2,T,_), S < T, T - S < 4.",
)


def some_settings(rng: random.Random) -> Settings:
    """Ask for variants under rules of every kind, any objective, weights and coverage."""
    rules = RuleFile("ours.lp", "\n".join(rng.sample(RULES + MORE_RULES, rng.randint(1, 4))))
    return change(
        Settings(),
        {
            "rules": rules,
            "variants": True,
            "objective": rng.choice(["v", "va", "u", "ua"]),
            "weight": rng.choice([None, {"anna": 2}, {"ben": 0.5, "carla": 3}]),
            "coverage": rng.choice([None, None, "marks"]),
            "singletons": rng.choice(["drop", "vote"]),
            "nested": rng.choice(["vote", "never", "always"]),
        },
    )


def some_decisions(rng: random.Random, annotations: list[Annotation]) -> Decisions:
    spans = sorted({span for annotation in annotations for span in annotation.mentions})
    return Decisions.of(statements=random_statements(rng, spans) if spans and rng.random() < 0.5 else ())


@pytest.mark.parametrize("block", range(40))
def test_engines_agree_on_rules_with_variants_decisions_weights_and_coverage(block: int) -> None:
    """Rules ask about the boundaries that were chosen; all that is derived is about these."""
    grouped = ruled = decided = 0
    for seed in range(25 * block, 25 * block + 25):
        rng = random.Random(seed)
        annotations, base = ragged(rng), some_settings(rng)
        decisions = some_decisions(rng, annotations)
        try:
            truth = adjudicate_document(annotations, decisions, change(base, {"engine": "brute"}))
        except ContradictionError:
            continue
        for engine, encoding in (("native", "mm"), ("clingo", "mm"), ("clingo", "cm")):
            settings = change(base, {"engine": engine, "encoding": encoding})
            settings = replace(settings, limits=Limits(certificate=engine == "native"))
            result = adjudicate_document(annotations, decisions, settings)
            assert (result.value, result.status) == (truth.value, "optimal"), (seed, engine, encoding)
            assert result.solution.partitions == truth.solution.partitions, (seed, engine, encoding)
            if engine == "native":
                proof = prove_optimal(result.instance, result.solution, Limits())
                assert verify(proof, result.instance) == truth.value, seed
        refuse_forged(truth.instance, base.rules)
        derived = truth.instance.rules.consequences
        if derived:
            with pytest.raises(EngineError, match="also derives"):
                refuse_forged(truth.instance.under(DerivedRules(derived[1:])), base.rules)
        assert all(set(truth.instance.votes.marks).issuperset(one.mentions) for one in derived), seed
        grouped += bool(truth.given and truth.given.variants.groups)
        ruled += bool(derived)
        decided += bool(decisions.statements)
    assert min(grouped, ruled, decided) > 2, "most of these documents have all of it"


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


def test_chains_that_break_a_rule_nobody_asked_about_are_found_out() -> None:
    files = (RuleFile("ours.lp", "forbid(M1,M2) :- span(M1,S,_), span(M2,S+1,_)."),)
    partial = PAPER.under(DerivedRules(partial=True))
    refuse_forged(partial, files, ((Span(2, 2), Span(4, 4)),))
    with pytest.raises(EngineError, match="break rules"):
        refuse_forged(partial, files, ((Span(4, 4), Span(5, 5)),))


def test_links_are_the_same_however_a_rule_asks_for_them() -> None:
    """In a positive condition, links are said in other words; `not not` looks them up one by one."""
    named = "annotator(A), annotator(B), in_chain(_,_,M1), in_chain(_,_,M2)"
    for asked in (
        ("linked(A,M1,M2)",),
        ("linked(_,M1,M2)",),
        ("linked(2,M1,M2)",),
        ("linked(A,M1,M2)", "linked(B,M1,M2)", "A < B"),
    ):
        looked_up = ", ".join(f"not not {one.replace('_', 'A')}" if "linked" in one else one for one in asked)
        plain = said(f"forbid(M1,M2) :- {', '.join(asked)}.")
        assert plain == said(f"forbid(M1,M2) :- {named}, {looked_up}.") and plain


def test_a_name_with_other_arguments_is_given_no_facts() -> None:
    """A novel has millions of links: a slip must not send them all to clingo."""
    assert parse_rules([RuleFile("ours.lp", "forbid(M1,M2) :- linked(M1,M2).")]).facts == set()
    rules = "linked(M1,M2) :- text(M1,T), text(M2,T). forbid(M1,M2) :- linked(M1,M2)."
    assert parse_rules([RuleFile("ours.lp", rules)]).facts == {"text"}


ABOUT_SOLUTION = """
% no chain with both
:- result_cm(C,M1), result_cm(C,M2), text(M1,"1 2 3"), text(M2,"5").
% four costs
:~ result_cm(_,M), text(M,"4"), annotator_name(1,"a"). [5@1,M]
"""


def test_costs_of_the_solution_are_told_apart_from_those_of_the_encoding() -> None:
    """A weak constraint of one's own with the brackets of another one is another cost."""
    rules = RuleFile("ours.lp", ":~ clink(M1,M2), cmusecost(M1,M2,W). [W@1,M1,M2,use]")
    (plain, ruled) = (
        adjudicate_document(paper_annotations(), settings=change(Settings(), {"rules": given}))
        for given in ([], [rules])
    )
    assert ruled.value > plain.value


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
