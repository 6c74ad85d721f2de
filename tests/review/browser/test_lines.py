"""How text is cut into lines and lines into pieces of mentions: every token once, every mention whole."""

import random
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

Node = dict[str, Any]

LAY_OUT = """async (cases) => {
  const { linesOf, treeOf } = await import("/static/text/lines.js");
  const plain = (node) => {
    if (typeof node === "number") return node;
    const { id, first, last, height } = node;
    return { id, first, last, height, children: node.children.map(plain) };
  };
  return cases.map(({ tokens, breaks, mentions }) => linesOf(tokens, breaks).map((line) => {
    const here = mentions.filter((m) => m.start <= line.end && m.end >= line.start);
    return { ...line, tree: plain(treeOf(line, here, () => 1)) };
  }));
}"""


def case(seed: int) -> dict[str, Any]:
    chance = random.Random(seed)
    length = chance.randint(1, 400 if seed % 10 == 0 else 20)
    spans = set()
    for _ in range(chance.randint(0, 12)):
        start = chance.randint(1, length)
        spans.add((start, min(length, start + chance.choice((0, 0, 1, 3, 9, 200)))))
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))
    return {
        "tokens": [chance.choice(("word", ".", "?")) for _ in range(length)],
        "breaks": sorted({1, *(chance.randint(1, length) for _ in range(chance.randint(0, 4)))}),
        "mentions": [{"id": f"{start}-{end}", "start": start, "end": end} for start, end in ordered],
    }


def pieces(node: Node, found: list[tuple[Node, list[int]]]) -> list[int]:
    """Return the tokens below a node, and collect every piece of a mention with its tokens."""
    tokens: list[int] = []
    for child in node["children"]:
        tokens += [child] if isinstance(child, int) else pieces(child, found)
    if node["id"] is not None:
        found.append((node, tokens))
    return tokens


def deepest(node: Node) -> int:
    """Count the levels of mentions inside a node."""
    inside = [deepest(child) + 1 for child in node["children"] if not isinstance(child, int)]
    return max(inside, default=0)


def test_every_token_once_and_every_mention_whole(page: Page) -> None:
    cases = [case(seed) for seed in range(150)]
    for given, lines in zip(cases, page.evaluate(LAY_OUT, cases), strict=True):
        assert lines[0]["start"] == 1
        assert all(one["end"] + 1 == other["start"] for one, other in pairwise(lines))
        assert {*given["breaks"]} <= {line["start"] for line in lines}
        covered: dict[str, list[int]] = {}
        ends: dict[str, list[str]] = {}
        for line in lines:
            found: list[tuple[Node, list[int]]] = []
            tokens = pieces(line["tree"], found)
            assert tokens == list(range(line["start"], line["end"] + 1))
            for node, below in found:
                assert below, "an empty piece"
                assert node["height"] == deepest(node)
                covered.setdefault(node["id"], []).extend(below)
                ends.setdefault(node["id"], []).append("s" * node["first"] + "e" * node["last"])
        for mention in given["mentions"]:
            whole = list(range(mention["start"], mention["end"] + 1))
            assert sorted(covered[mention["id"]]) == whole
            assert sorted("".join(ends[mention["id"]])) == ["e", "s"]
