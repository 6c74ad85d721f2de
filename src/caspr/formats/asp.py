"""ASP facts: the input of the paper's programs, as `caspr encode` prints it and benchmarks are published.

    token(1,"Anna"). sentence(1,1).
    token(2,"slept"). sentence(2,1).
    annotator(1). annotator_name(1,"Ben").
    mention(1,1,4,6).                      annotator 1 marked tokens 4 to 6, and calls this mention 1
    cm(1,7,1). cm(1,7,2).                  and put the mentions 1 and 2 into chain 7

1. A file has one document, named after it, of any number of annotators. Only `mention/4` and `cm/3` are
   required. Without `token/2`, the words of the text are the numbers of its tokens, up to the last mention.
2. Annotators, mentions and chains are called by a number, a name in lower case or a text in quotes. An
   annotator whom `annotator_name/2` does not name is called so, too; if there is no other, like the file.
3. A mention in no chain is a chain of one.
4. All other facts and rules are passed over, so that whole programs are read; what they derive is not. The
   annotator `forced` is the adjudicator, whose decisions are read from review files.
5. What the grounder would make several facts of, such as `mention(1,1,1..3,4)`, is refused.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from caspr.errors import FormatError, OutputError
from caspr.formats.format import Format, ReadOptions, lost, quoted
from caspr.formats.naming import collect, stem
from caspr.storage import read_text
from caspr.text.document import Annotation, Chain, Document, Span
from caspr.text.findings import Finding, note, times

FORCED = "forced"
"""The annotator whose facts are the adjudicator's decisions."""
GOLD_LINE = "% caspr gold: the result of an adjudication"
_GOLD = re.compile(r"(?m)^% caspr gold:")
_MOST_TOKENS = 10_000_000
"""The longest text that is made up for mentions without words."""
_LARGEST = 2**31 - 1
"""Grounders have whole numbers of 32 bits."""
_COMMENT = r"%\*.*?\*%|%(?!\*)[^\n]*"
_SKIP = re.compile(rf"(?:\s+|{_COMMENT}|\[[^\]]*\])++", re.DOTALL)
"""Blanks, comments, and the weight after a weak constraint."""
_STRING = r'"(?:[^"\\]|\\.)*"'
_TERM = rf"\s*(?:-?\d+|_*[a-z]\w*|{_STRING})\s*"
_FACT = re.compile(rf"([a-z]\w*)\(((?:{_TERM},)*{_TERM})\)\s*\.(?!\.)", re.DOTALL)
_STATEMENT = re.compile(rf"(?:{_STRING}|{_COMMENT}|\.\.|[^\".%])*+\.(?!\.)", re.DOTALL)
_ARGUMENT = re.compile(_TERM, re.DOTALL)
_OURS = {"mention": 4, "cm": 3, "annotator": 1, "annotator_name": 2, "token": 2, "sentence": 2}
"""The predicates that are read, with the number of their arguments."""
_HEAD = re.compile(rf"({'|'.join(_OURS)})\s*\(")
_SHAPES = {
    "mention": "mention(1,2,4,6).: annotator, mention, first and last token",
    "cm": "cm(1,7,2).: annotator, chain, mention",
    "annotator": "annotator(1).",
    "annotator_name": 'annotator_name(1,"Anna").',
    "token": 'token(1,"Anna").: its number, from 1, and its text',
    "sentence": "sentence(1,1).: a token and the number of its sentence",
}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_UNESCAPED = {"n": "\n"}


@dataclass
class _Work:
    """What one annotator marked."""

    mentions: dict[str, Span] = field(default_factory=dict)
    chains: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class _Facts:
    """What a file says."""

    works: dict[str, _Work] = field(default_factory=lambda: defaultdict(_Work))
    names: dict[str, str] = field(default_factory=dict)
    tokens: dict[int, str] = field(default_factory=dict)
    sentences: dict[int, str] = field(default_factory=dict)

    def add(self, predicate: str, terms: Sequence[str], line: int) -> None:
        """Take in a fact."""
        values = [_text(term) for term in terms]
        if predicate == "mention":
            self._add_mention(values, line)
        elif predicate == "cm":
            chain = self.works[values[0]].chains[values[1]]
            chain.append(values[2])
        elif predicate == "annotator":
            _ = self.works[values[0]]
        elif predicate == "annotator_name":
            self.names[values[0]] = values[1]
        else:
            number = _whole(values[0], predicate, line)
            known = self.tokens if predicate == "token" else self.sentences
            if known.setdefault(number, values[1]) != values[1]:
                raise FormatError(line, f"another {predicate}({number},...)", "each token once")

    def _add_mention(self, values: Sequence[str], line: int) -> None:
        annotator, name, *ends = values
        start, end = (_whole(value, "mention", line) for value in ends)
        span = Span(start, end)
        if not 1 <= start <= end:
            found = f"a mention from token {start} to {end}"
            raise FormatError(line, found, "tokens from 1, the last not before the first")
        if self.works[annotator].mentions.setdefault(name, span) != span:
            expected = "each mention of an annotator once"
            raise FormatError(line, f"another mention({annotator},{name},...)", expected)


def _whole(value: str, predicate: str, line: int) -> int:
    if not (value.isascii() and value.isdecimal() and len(value) < 10):
        raise FormatError(line, quoted(value), _SHAPES[predicate])
    return int(value)


def _text(term: str) -> str:
    """Return what a term says, without quotes."""
    term = term.strip()
    if not term.startswith('"'):
        return term
    return re.sub(r"\\(.)", lambda sign: _UNESCAPED.get(sign[1], sign[1]), term[1:-1], flags=re.DOTALL)


def _parse(text: str) -> _Facts:
    facts = _Facts()
    position = counted = 0
    line = 1
    while True:
        if (skipped := _SKIP.match(text, position)) is not None:
            position = skipped.end()
        if position >= len(text):
            return facts
        line += text.count("\n", counted, position)
        counted = position
        fact = _FACT.match(text, position)
        if fact is not None and len(terms := _ARGUMENT.findall(fact[2])) == _OURS.get(fact[1]):
            facts.add(fact[1], terms, line)
            position = fact.end()
            continue
        position = _passed_over(text, position, line)


def _passed_over(text: str, position: int, line: int) -> int:
    """Return where the statement after this position ends, unless it should be a fact that is read."""
    statement = _STATEMENT.match(text, position)
    if statement is None:
        raise FormatError(
            line, quoted(text[position : position + 60]), "a fact or a rule that ends in a full stop"
        )
    head = _HEAD.match(statement[0])
    if head is not None and ":-" not in statement[0]:
        raise FormatError(line, quoted(statement[0]), _SHAPES[head[1]])
    return statement.end()


def read(path: Path, annotator: str | None = None, options: ReadOptions | None = None) -> list[Annotation]:  # noqa: ARG001
    """Read a file: one document of any number of annotators."""
    text = read_text(path)
    facts = _parse(text)
    decided = facts.works.pop(FORCED, None)
    document = _document(path, facts)
    gold = _GOLD.search(text) is not None
    names = _names(facts, path.stem if annotator is None else annotator)
    annotations = [
        Annotation.of(names[id], document, _chains(id, work), _unread(decided, path), adjudicated=gold)
        for id, work in facts.works.items()
    ]
    if not annotations:
        raise FormatError(None, "no annotator", f"facts such as {_SHAPES['mention']}")
    return annotations


def _names(facts: _Facts, own: str) -> Mapping[str, str]:
    """Name the annotators; one alone without a name is called after the file."""
    if len(facts.works) == 1:
        return {id: facts.names.get(id, own) for id in facts.works}
    return {id: facts.names.get(id, id) for id in facts.works}


def _unread(decided: _Work | None, path: Path) -> Iterator[Finding]:
    if decided is not None and decided.mentions:
        enforced = times(len(decided.mentions), "enforced mention")
        message = f"{enforced} not read: decisions are read from review files"
        yield note("unread-decisions", message, count=len(decided.mentions), where=str(path))


def _document(path: Path, facts: _Facts) -> Document:
    """Make the text: of the words that are there, or of numbers."""
    spans = [span for work in facts.works.values() for span in work.mentions.values()]
    last = max((span.end for span in spans), default=0)
    if facts.tokens:
        length = len(facts.tokens)
        if not (min(facts.tokens) == 1 and max(facts.tokens) == length):
            missing = next(number for number in range(1, length + 1) if number not in facts.tokens)
            raise FormatError(None, f"no token({missing},...)", "all tokens from 1 to the last")
        words = tuple(facts.tokens[number] for number in range(1, length + 1))
    else:
        length, words = last, ()
        if last > _MOST_TOKENS:
            raise FormatError(
                None, f"a mention that ends at token {last}", f"at most {_MOST_TOKENS:,} tokens"
            )
    if last > length:
        found = f"a mention that ends at token {last}"
        raise FormatError(None, found, f"one of the {times(length, 'token')} that token/2 gives")
    words = words or tuple(map(str, range(1, length + 1)))
    return Document(path.stem, words, source=str(path), sentence_ends=_sentence_ends(facts, length))


def _sentence_ends(facts: _Facts, length: int) -> tuple[int, ...]:
    if not facts.sentences:
        return ()
    of = facts.sentences.get
    return tuple(token for token in range(1, length + 1) if token == length or of(token) != of(token + 1))


def _chains(annotator: str, work: _Work) -> Iterator[Chain]:
    """Make the chains of an annotator, and chains of one of the mentions in none."""
    left = dict(work.mentions)
    for id, names in work.chains.items():
        for name in names:
            if name not in work.mentions:
                found = f"cm({annotator},{id},{name}) without a mention"
                raise FormatError(None, found, f"mention({annotator},{name},...), which says where it is")
            left.pop(name, None)
        yield Chain.of(id, [work.mentions[name] for name in names])
    fresh = (str(number) for number in count(1) if str(number) not in work.chains)
    for span in left.values():
        yield Chain.of(next(fresh), [span])


def write(annotations: Iterable[Annotation]) -> dict[str, str | bytes]:
    """Write a file for each document, with all its annotators."""
    files: list[list[Annotation]] = []
    for annotation in annotations:
        works = next((works for works in files if _belongs(annotation, works)), None)
        if works is None:
            files.append([annotation])
        else:
            works.append(annotation)
    return collect((f"{stem(works[0].document)}.lp", _file(works)) for works in files)


def _belongs(annotation: Annotation, works: Sequence[Annotation]) -> bool:
    """Return whether an annotation is of the same document as others, by somebody else."""
    own = annotation.document == works[0].document
    return own and annotation.annotator not in {work.annotator for work in works}


def losses(annotation: Annotation) -> tuple[Finding, ...]:
    """Return what of an annotation this format cannot carry."""
    return tuple(lost(annotation, edges=True))


def _file(works: Sequence[Annotation]) -> str:
    lines = [GOLD_LINE] if any(work.adjudicated for work in works) else []
    lines += _text_lines(works[0].document)
    for number, work in enumerate(works, 1):
        lines.append(f"annotator({number}). annotator_name({number},{_string(work.annotator)}).")
        spans = sorted(work.mentions)
        names = {span: name for name, span in enumerate(spans, 1)}
        lines += (f"mention({number},{name},{span.start},{span.end})." for span, name in names.items())
        lines += (
            " ".join(f"cm({number},{_id(chain.id)},{names[span]})." for span in chain.mentions)
            for chain in work.all_chains
        )
    return "".join(f"{line}\n" for line in lines)


def _text_lines(document: Document) -> Iterator[str]:
    sentence = 1
    ends = set(document.sentence_ends)
    for number, token in enumerate(document.tokens, 1):
        yield f"token({number},{_string(token)})." + (f" sentence({number},{sentence})." if ends else "")
        sentence += number in ends


def _string(text: str) -> str:
    if "\0" in text:
        raise OutputError(f"cannot write {quoted(text)} as an ASP fact: it has a NUL")
    return '"' + re.sub(r'[\\"\n]', lambda sign: _ESCAPES[sign[0]], text) + '"'


def _id(id: str) -> str:
    """Write the id of a chain as a number, if that is what it is.

    >>> _id("7"), _id("007"), _id("Anna")
    ('7', '"007"', '"Anna"')
    """
    plain = id.isascii() and id.isdecimal() and str(int(id)) == id and int(id) <= _LARGEST
    return id if plain else _string(id)


def detect(path: Path, head: str) -> bool:
    """Return whether a file has facts about mentions, or is called .lp and has some about annotators."""
    if re.search(rf"(?m)(?:^|[.\s])mention\({_TERM},{_TERM},\s*\d+\s*,\s*\d+\s*\)\s*\.", head):
        return not re.search(r"(?m)^#\s*begin document", head)
    return path.suffix.lower() == ".lp" and re.search(r"(?m)^(?:annotator|token)\(", head) is not None


FORMAT = Format(
    name="asp",
    suffixes=(".lp",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_annotators=True,
    vague_suffixes=(".lp",),
)
