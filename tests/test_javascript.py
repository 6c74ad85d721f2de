"""The checks of the pages' JavaScript: where they are skipped, where they are required, what is committed."""

import shutil
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _without_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)


def test_without_node_they_are_skipped_with_a_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CASPR_NODE", raising=False)
    dev.check_javascript()
    assert "skipping" in capfd.readouterr().out


def test_where_they_are_required_a_missing_node_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASPR_NODE", "required")
    with pytest.raises(SystemExit, match="apt-get install nodejs npm"):
        dev.check_javascript()


def test_ci_requires_them() -> None:
    assert "CASPR_NODE=required" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_no_committed_file_names_a_registry() -> None:
    assert "package-lock=false" in (ROOT / ".npmrc").read_text(encoding="utf-8")
    assert not (ROOT / "package-lock.json").exists()
    for name in ("package.json", ".npmrc", "tsconfig.json", "eslint.config.js"):
        assert "://" not in (ROOT / name).read_text(encoding="utf-8"), name
