"""The start page in a real browser, by clicks alone."""
