"""What `verify` rests on: the modules that its page names, in integers only."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import caspr
from caspr.engines.native import solve
from caspr.engines.native.proof_writer import prove_optimal
from caspr.errors import EngineError
from caspr.proof.verify import verify
from caspr.task.limits import Limits
from caspr.task.objectives import OBJECTIVES, Objective
from tests.engines.native.test_limits import noisy

SOURCES = Path(caspr.__file__).parent
PAGE = SOURCES.parents[1] / "docs/verify.md"
EXACT = (
    "proof/verify/",
    "task/pricing.py",
    "task/pair_price.py",
    "task/votes.py",
    "task/objectives.py",
    "text/grouping.py",
)
"""Where bounds and prices are computed."""


def file_of(name: str) -> Path:
    place = SOURCES.parent.joinpath(*name.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def imports(path: Path) -> Iterator[str]:
    """Yield the modules that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def needed(*names: str) -> set[str]:
    """Return the files below src/caspr that some modules need, directly or not."""
    known: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        path = file_of(name).relative_to(SOURCES).as_posix()
        if path not in known:
            known.add(path)
            waiting += [other for other in imports(file_of(name)) if other.startswith("caspr.")]
    return known


def test_the_page_names_every_module_that_verify_needs() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## What you must trust")[2]
    checking, _, reading = section.partition("The certificate file")
    proof = needed("caspr.proof.verify")
    assert set(re.findall(r"`([\w/]+\.py)`", checking)) == proof
    named = set(re.findall(r"`([\w/]+\.py)`", reading.partition("`formats`")[0]))
    assert named == needed("caspr.proof.certificate") - proof


def test_nothing_that_verify_needs_imports_more_than_pythons_library() -> None:
    for path in needed("caspr.proof.certificate"):
        others = {name.split(".")[0] for name in imports(SOURCES / path)}
        assert not others & {"numpy", "scipy", "clingo", "decimal", "fractions"}, path


def test_bounds_and_prices_are_computed_without_floats() -> None:
    for path in sorted(needed("caspr.proof.verify")):
        if path.startswith(EXACT):
            for node in ast.walk(ast.parse((SOURCES / path).read_text(encoding="utf-8"))):
                where = f"{path}:{getattr(node, 'lineno', 0)}"
                assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)), where
                assert not (isinstance(node, ast.Constant) and isinstance(node.value, float)), where
                assert not (isinstance(node, ast.Name) and node.id in ("float", "round", "int_")), where


KINDS = {"stars", "two_partitions", "pentagons", "partner_stars", "ties", "shared"}
"""The inequalities of a proof."""


class Large(Objective):
    """An objective whose coefficients may be of any size."""

    def __post_init__(self) -> None:
        """Refuse nothing."""


@pytest.mark.parametrize("factor", [2**31, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**40 + 1])
@pytest.mark.parametrize("objective", ["u", "va"])
def test_values_beyond_64_bits_neither_wrap_nor_round(objective: str, factor: int) -> None:
    instance = noisy(objective, mentions=24)
    written = prove_optimal(instance, solve(instance, Limits()), Limits(seconds=60))
    assert written is not None
    costs = OBJECTIVES[objective]
    invent = None if costs.invent is None else costs.invent * factor
    large = replace(instance, objective=Large(costs.omit * factor, costs.use * factor, invent))
    scaled = {**multiplied(written, factor), "value": written["value"] * factor}
    assert verify(scaled, large) == written["value"] * factor
    for wrong in (-1, 1, 2**64, -(2**64)):
        with pytest.raises(EngineError):
            verify({**scaled, "value": scaled["value"] + wrong}, large)


def multiplied(given: object, factor: int) -> dict[str, object]:
    """Return a proof whose multipliers and goals are larger by a factor."""

    def walk(data: object) -> object:
        if isinstance(data, list):
            return [walk(one) for one in data]
        if not isinstance(data, dict):
            return data
        larger = {key: walk(one) for key, one in data.items()}
        for kind in KINDS & data.keys():
            larger[kind] = [[multiplier * factor, *nodes] for multiplier, *nodes in data[kind]]
        if "goal" in data:
            larger["goal"] = data["goal"] * factor
        return larger

    changed = walk(given)
    assert isinstance(changed, dict)
    return changed
