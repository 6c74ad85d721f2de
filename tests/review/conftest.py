"""Close what a test opened."""

from collections.abc import Iterator

import pytest

from tests.review.sessions import OPEN


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()
