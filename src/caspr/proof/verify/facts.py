"""What follows from an instance in every case, what is assumed in one, and how numbers of a proof are read.

A proof may hold anything that JSON can, so it is read strictly: integers are integers, spans pairs of them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from caspr.errors import EngineError
from caspr.task.instance import Instance
from caspr.task.votes import Signature, meet
from caspr.text.document import Span

Mentions = frozenset[Span]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Facts:
    """An instance, and what follows from it in every case."""

    instance: Instance

    def gain(self, first: Signature, second: Signature) -> int:
        """Return what two mentions of these signatures gain in one chain, at their cheaper choice."""
        return self.instance.prices.of(meet(first, second)).gain

    def extra(self, first: Span, second: Span) -> int | None:
        """Return what using a link costs beyond the cheaper choice; `None` if it cannot be used."""
        return 0 if self.instance.is_free(first, second) else self.instance.price(first, second).extra

    def may_join(self, first: Span, second: Span) -> bool:
        """Return whether votes and rules' links let two mentions share a chain that need not."""
        return self.instance.price(first, second).allowed

    def linked(self, mention: Span) -> Mentions:
        """Return the mentions that an annotator linked with one and that may exist."""
        return frozenset(self.instance.neighbours(mention)) & self.allowed

    def ruled(self, mentions: Collection[Span]) -> set[Span]:
        """Return what mentions rules charge together with others of some, and all that they charge alone."""
        pairs = self.instance.rules.pairs_within(mentions)
        charged = {span for pair in pairs if self.may_join(*pair) for span in pair}
        return charged.union(self.instance.chain_gains)

    @cached_property
    def allowed(self) -> Mentions:
        """The mentions that may exist."""
        return frozenset(self.instance.mentions)

    @cached_property
    def distinguished(self) -> Mentions:
        """The mentions that a pair kept apart may distinguish from others of their signature.

        Pairs that are forbidden for want of a vote are so for all mentions of one signature: such a pair
        distinguishes nobody, nested or not.
        """
        instance = self.instance
        nested = instance.nested_faults(instance.mentions)
        telling = (pair for pair in nested if instance.price(*pair).allowed)
        pairs = (*telling, *instance.constraints.apart)
        return frozenset(span for pair in pairs for span in pair).union(
            instance.rules.paired, instance.chain_gains
        )


@dataclass(frozen=True)
class Assumptions:
    """What is assumed in a case."""

    bundles: Mapping[Span, Mentions]
    """For every mention that must be in one chain with others, or in some chain, all of these."""
    glued: Mapping[Span, Mentions]
    """For every mention with a link that was charged, the mentions it is glued to, itself included."""

    @classmethod
    def of(cls, instance: Instance) -> "Assumptions":
        """Assume what decisions enforce; no link is charged yet."""
        groups = (frozenset(bundle) for bundle in instance.bundles)
        return cls({mention: group for group in groups for mention in group}, {})

    def linked(self, piece: Mentions, partners: Mentions) -> "Assumptions":
        """Assume that a piece has a used link to one of some others, and that it is charged."""
        return Assumptions(_united(self.bundles, piece | partners), _united(self.glued, piece | partners))

    def splits_bundle(self, mentions: Mentions) -> bool:
        """Return whether some mentions hold a part of a bundle only."""
        return _splits(self.bundles, mentions)

    def splits_glued(self, mentions: Mentions) -> bool:
        """Return whether some mentions hold a part only of what is glued."""
        return _splits(self.glued, mentions)


def _united(blocks: Mapping[Span, Mentions], mentions: Mentions) -> Mapping[Span, Mentions]:
    """Unite some mentions with all that are in a block with one of them."""
    union = mentions.union(*(blocks[mention] for mention in mentions if mention in blocks))
    return {**blocks, **dict.fromkeys(union, union)}


def _splits(blocks: Mapping[Span, Mentions], mentions: Mentions) -> bool:
    return any(not blocks[mention] <= mentions for mention in mentions if mention in blocks)


Proof = Mapping[str, Any]
"""A proof, or a part of one, as read from JSON."""

MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What reading JSON of another shape than ours can raise; JSON of Python may hold `Infinity`."""


def require(condition: bool, message: str) -> None:
    """Refuse the certificate unless a condition holds."""
    if not condition:
        raise EngineError(f"certificate: {message}")


def required(value: Value | None, message: str) -> Value:
    """Return what must be there; refuse the certificate where it is not."""
    if value is None:
        raise EngineError(f"certificate: {message}")
    return value


def read_integer(value: Any) -> int:
    """Read an integer; nothing is rounded or converted.

    >>> read_integer(2**64)
    18446744073709551616
    >>> read_integer(2.0)
    Traceback (most recent call last):
    TypeError: found 2.0, expected an integer
    """
    if type(value) is not int:
        raise TypeError(f"found {value!r}, expected an integer")
    return value


def read_spans(mentions: Sequence[Sequence[Any]]) -> list[Span]:
    """Read mentions given as pairs of tokens.

    >>> read_spans([[1, 3], [6, 6]])
    [Span(start=1, end=3), Span(start=6, end=6)]
    """
    return [Span(read_integer(start), read_integer(end)) for start, end in mentions]
