"""The figures in the documentation are those of runs that happened, and whose results are kept."""

from pathlib import Path

from bench.experiments.render import to_markdown
from bench.experiments.report import describe_runs
from bench.experiments.store import Store
from bench.experiments.table import make_table

ROOT = Path(__file__).parents[2]


def test_the_page_shows_the_table_of_the_kept_results() -> None:
    store = Store(ROOT / "bench" / "results")
    page = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")
    assert to_markdown(make_table(store.records)).strip() in page
    for line in describe_runs(store.records, store.sessions):
        assert line in page
