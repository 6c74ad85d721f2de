"""Messages: text from a file, as it is shown in an error or a finding."""

CUT_OFF = "; the file may be cut off: get or export it again"
"""What to do about a file that ends too early."""
JOINED = "; two files may have been joined: separate them"
"""What to do about a file that goes on behind its end."""


def quoted(text: str) -> str:
    """Show text from a file in a message: on one line, and not too much of it."""
    return repr(text if len(text) <= 60 else f"{text[:40]}...{text[-10:]}")
