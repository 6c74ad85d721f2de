"""Coreference in spaCy documents: each chain is a group of spans, `doc.spans["coref_clusters_1"]` and so on.

That is how spaCy's own coreference component writes its predictions. The name and the type of an entity are
in the `attrs` of its group. Tokens of nothing but blanks and line ends, which spaCy keeps, are left out of
our documents, because no other format has them; `to_spacy` puts spans back where they were. spaCy itself is
not imported: the document brings everything with it.
"""

from dataclasses import replace
from typing import Any

from caspr.errors import InputError
from caspr.text.arguments import refused
from caspr.text.document import Annotation, Chain, Document, Span

PREFIX = "coref_clusters"
"""What the names of groups begin with."""


def from_spacy(
    doc: Any, annotator: str = "spacy", *, name: str = "document", prefix: str = PREFIX
) -> Annotation:
    """Take the chains of a spaCy document.

    Documents of one text must have one `name`, whichever system annotated them.
    """
    if not hasattr(doc, "spans"):
        raise refused("caspr.from_spacy", doc, "a spaCy document")
    words = _words(doc)
    number = {token.i: position for position, token in enumerate(words, 1)}
    chains = []
    for key in doc.spans:
        if key == prefix or key.startswith(f"{prefix}_"):
            spans = [_span(span, number, key) for span in doc.spans[key]]
            called, type = (str(doc.spans[key].attrs.get(kind, "")) for kind in ("name", "type"))
            chain = Chain.of(key.removeprefix(f"{prefix}_"), spans)
            chains.append(replace(chain, name=called, type=type))
    return Annotation.of(
        annotator, _document(doc, words, number, name), [chain for chain in chains if chain.mentions]
    )


def to_spacy(annotation: Annotation, doc: Any, *, prefix: str = PREFIX) -> Any:
    """Write the chains of an annotation into a spaCy document of the same words, and return it.

    Groups of the same prefix that the document has are replaced.
    """
    words = _words(doc)
    texts = [token.text for token in words]
    if tuple(texts) != annotation.document.tokens:
        index = next(
            (
                n
                for n, (text, token) in enumerate(zip(texts, annotation.document.tokens, strict=False))
                if text != token
            ),
            min(len(texts), len(annotation.document.tokens)),
        )
        raise InputError(
            f"to_spacy: the {len(texts):,} words of the spaCy document differ from word {index + 1} on from "
            f"those of '{annotation.document.title}' ({len(annotation.document.tokens):,} words)"
        )
    for key in [key for key in doc.spans if key == prefix or key.startswith(f"{prefix}_")]:
        del doc.spans[key]
    for position, chain in enumerate(annotation.all_chains, 1):
        spans = [doc[words[span.start - 1].i : words[span.end - 1].i + 1] for span in chain.mentions]
        doc.spans[f"{prefix}_{position}"] = spans
        said = {"name": chain.name, "type": chain.type}
        doc.spans[f"{prefix}_{position}"].attrs.update({kind: text for kind, text in said.items() if text})
    return doc


def _words(doc: Any) -> list[Any]:
    return [token for token in doc if not token.is_space]


def _span(span: Any, number: dict[int, int], key: str) -> Span:
    inside = [number[token] for token in range(span.start, span.end) if token in number]
    if not inside:
        raise InputError(f"from_spacy: doc.spans[{key!r}] has a span of no words: remove it")
    return Span(inside[0], inside[-1])


def _document(doc: Any, words: list[Any], number: dict[int, int], name: str) -> Document:
    ends: tuple[int, ...] = ()
    if doc.has_annotation("SENT_START"):
        last = [
            max((number[token.i] for token in sentence if token.i in number), default=0)
            for sentence in doc.sents
        ]
        ends = tuple(dict.fromkeys(end for end in last if end))
    return Document(
        name,
        tuple(token.text for token in words),
        characters=doc.text,
        offsets=tuple((token.idx, token.idx + len(token.text)) for token in words),
        sentence_ends=ends,
    )
