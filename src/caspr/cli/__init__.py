"""The command line: one file is one subcommand, imported when it is called.

A subcommand parses, calls documented functions, prints and returns. Only `main` catches errors, and turns
them into one line and an exit code: 2 for bad input or usage, 130 for Ctrl-C, 141 for a closed pipe.
"""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from types import FrameType

import click

from caspr import __version__
from caspr.cli.shared.progress import ENDING
from caspr.errors import CasprError
from caspr.text.findings import harmless

COMMANDS = {
    "start": "Open a page in the browser on which everything can be done by clicking.",
    "adjudicate": "Merge annotators' files into one optimal gold standard.",
    "redo": "Re-optimise a review file around the decisions in it.",
    "review": "Adjudicate on a local web page that re-optimises the rest at every click.",
    "corpus": "Adjudicate a whole corpus, on many cores or machines.",
    "verify": "Check a certificate of optimality without any solver.",
    "check": "Report what is wrong or odd in annotators' files; write nothing.",
    "report": "Explain every dispute: who voted how, what was decided and why.",
    "agreement": "Measure how far annotators agree, who with whom and in which documents.",
    "weigh": "Learn how far each annotator can be trusted, from the work of three or more.",
    "settings": "Compare what different settings make of the same files.",
    "score": "Score a response against a key: MUC, B3, CEAF, BLANC, LEA, CoNLL.",
    "convert": "Write an annotation in another format, and report what it cannot express.",
    "encode": "Print the answer set program for some annotations.",
    "decode": "Make a gold standard of what an answer set solver printed.",
}


class _Commands(click.Group):
    """A group that imports a subcommand only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name all subcommands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"caspr.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand, or name those whose names are like what was written."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            like = get_close_matches(args[0].lower(), COMMANDS, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(like)}?" if like else "see caspr --help"
            if args[0].lower() == "help":
                hint = (
                    f"write caspr {args[1]} --help"
                    if args[1:2] and args[1] in COMMANDS
                    else "write caspr --help"
                )
            ctx.fail(f"there is no command '{args[0]}': {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="caspr")
@click.pass_context
def cli(context: click.Context) -> None:
    """Merge the coreference annotations of several annotators into one gold standard.

    Without a command, a page opens in the browser on which everything can be done by clicking.

    The result costs least under a stated objective, breaks no rule, and is proven optimal; where a proof is
    not finished, the gap is stated. You can enforce parts of it: the rest is optimised around them.
    """
    if context.invoked_subcommand is None:
        context.invoke(import_module("caspr.cli.start").command)


def main() -> None:
    """Run the command line: exit 0 when written, 2 on bad input or usage."""
    # Several threads only slow the small matrix products of the native engine down.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Documents are many small objects without cycles: looking for cycles takes a fifth of the time.
    gc.set_threshold(100_000, 20, 20)
    for stream in (sys.stdout, sys.stderr):
        _use_utf8(stream)
    for number in ENDING:
        # `nohup` ignores SIGHUP on purpose.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminate)
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main(prog_name="caspr", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Abort:
        _fail("interrupted; nothing was written", 130)
    except click.ClickException as error:
        _with_nearest_option(error).show()
        sys.exit(2)
    except CasprError as error:
        _fail(str(error), 2)
    except BrokenPipeError:
        _discard_output()
        sys.exit(141)
    except OSError as error:
        _discard_output()
        _fail(f"{error.filename or 'cannot write'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written", 130)


def _with_nearest_option(error: click.ClickException) -> click.ClickException:
    """Return an error about an unknown option with the one that was probably meant, and no others."""
    if isinstance(error, click.NoSuchOption) and len(error.option_name) == 2:
        words = (word for word in sys.argv[1:] if word.startswith(error.option_name))
        long = next((word for word in words if len(word) > 3 and not word.startswith("--")), None)
        if long is not None:
            message = f"No such option '{long}': an option of several letters has two hyphens, -{long}."
            return click.NoSuchOption(error.option_name, message=message, ctx=error.ctx)
    if not isinstance(error, click.NoSuchOption) or not error.possibilities:
        return error
    from difflib import get_close_matches

    nearest = get_close_matches(error.option_name, error.possibilities, n=1, cutoff=0)
    return click.NoSuchOption(error.option_name, possibilities=nearest, ctx=error.ctx)


def _use_utf8(stream: object) -> None:
    """Print UTF-8 with simple line ends to files and pipes, whatever the locale.

    A terminal keeps its encoding; characters that it lacks are printed as codes.
    """
    if not isinstance(stream, TextIOWrapper):
        return  # closed, or replaced by a program that calls `main`
    if stream.isatty():
        stream.reconfigure(errors="backslashreplace")
    else:
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _fail(message: str, code: int) -> None:
    with suppress(OSError):
        click.echo(f"caspr: error: {harmless(message)}", err=True)
    sys.exit(code)


def _discard_output() -> None:
    """Discard buffered output: Python would try to write it at exit, and fail with a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """Exit on a signal of `ENDING` as on an error, so that clean-up code ends the solvers' processes."""
    sys.exit(128 + number)
