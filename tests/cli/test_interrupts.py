"""Ctrl-C is noticed by what follows a search, and does what it did before."""

import signal

import pytest

from caspr.cli.shared.progress import interrupts_noticed


def test_an_interrupt_is_raised_and_remembered() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_noticed() as pressed:
        assert not pressed()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert pressed()
    assert signal.getsignal(signal.SIGINT) is before
