"""The entry point of `caspr` and of `python -m caspr`."""

import signal


def main() -> None:
    """Run the command line.

    While it is being imported, Ctrl-C ends the process without a traceback, as it ends any program that has
    no handler; `caspr.cli.main` then handles it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from caspr import cli

    cli.main()


if __name__ == "__main__":
    main()
