"""The browser of the review page's tests, opened again here: two at a time would share one event loop.

A fixture that a test module imports lives until the end of the session, whatever its scope says.
"""

from tests.review.browser.conftest import chromium

__all__ = ["chromium"]
