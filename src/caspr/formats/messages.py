"""Messages: text from a file, as it is shown in an error or a finding."""


def quoted(text: str) -> str:
    """Show text from a file in a message: on one line, and not too much of it."""
    return repr(text if len(text) <= 60 else f"{text[:40]}...{text[-10:]}")
