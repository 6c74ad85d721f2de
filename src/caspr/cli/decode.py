"""`caspr decode`: what an answer set solver printed, certified and written as a gold standard."""

import sys
from pathlib import Path
from typing import Any

import click

from caspr.adjudication import adjudicate_document
from caspr.cli.shared import options
from caspr.cli.shared.inputs import refuse_inside
from caspr.cli.shared.outputs import Content, Files, Output, OutputKind, Outputs
from caspr.cli.shared.solving import Reporting, Task, annotators_of, deliver, only_task
from caspr.engines import Engine
from caspr.engines.asp.answers import Printed, read_answers
from caspr.errors import InputError, reading
from caspr.formats import review_file
from caspr.formats.foreign import refuse_foreign_name
from caspr.formats.registry import losses, output_format, render, takes_a_folder
from caspr.formats.sources import read_files
from caspr.result import Result
from caspr.storage import decode, read_text
from caspr.task.instance import Instance
from caspr.task.limits import Limits, Progress
from caspr.task.pricing import pairwise_bound, price, violations
from caspr.task.solution import Solution
from caspr.text.findings import Finding, note, warning


class _Command(options.Command):
    """A command whose `--like` takes all words up to the next option: the shell makes many of `in*.conll`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `--like` before each of its words."""
        words: list[str] = []
        like = False
        for word in args:
            if word == "--like":
                like = True
                continue
            like = like and not (word.startswith("-") and word != "-")
            words += ["--like", word] if like else [word]
        return super().parse_args(ctx, words)


@click.command("decode", cls=_Command)
@click.argument("answer", type=options.FILES, metavar="ANSWER")
@click.option(
    "--like",
    multiple=True,
    required=True,
    type=options.FILES,
    metavar="FILE ...",
    help="The annotators' files, or the review file, that `caspr encode` was given.",
)
@click.option("--document", metavar="NAME", help="Which document, where the files have several.")
@options.output_option
@click.option(
    "--layout",
    type=options.choice(["gold", "review"]),
    default="gold",
    help="Only the result, or all annotators and the result side by side, to edit and redo. Default: gold.",
)
@options.to_option("as the name of the output says, else that of the first annotator's file")
@options.annotators_option
@options.settings_options
@options.format_options
@options.gold_option
@options.file_option("--json", "json_path", metavar="FILE", help="Write a summary for programs.")
@options.strict_option
@options.quiet_option
def command(
    answer: Path,
    like: tuple[Path, ...],
    document: str | None,
    output: Path,
    layout: str,
    target: str | None,
    **values: Any,
) -> None:
    """Make a gold standard of ANSWER: what clingo, clasp, WASP or DLV printed for a program of caspr encode.

    The best answer set is taken, or the last. Its chains are certified: they break no rule, and their cost is
    recomputed from the votes. Give the options that `caspr encode` was given. An ANSWER of - is read from
    standard input.
    """
    reporting = Reporting.of(values)
    if layout == "gold" and target is None:
        refuse_foreign_name(output)
    task, findings = only_task(like, values, document)
    format = target or output_format(task.annotations, output)
    written = review_file.COLUMNS if layout == "review" else format
    kind = OutputKind.EITHER if takes_a_folder(written) else OutputKind.FILE
    inputs = (*read_files(like), *(() if answer == Path("-") else (answer,)))
    outputs = Outputs(
        (Output("-o", output, kind, content=Content.RESULT), *reporting.outputs(annotators_of([task]))),
        inputs,
        review=output if layout == "review" else None,
    )
    outputs.refuse()
    refuse_inside((file.path for file in outputs.outputs), like)
    result = _decoded(answer, task)
    lost = losses([result.gold], written)
    if layout == "review":
        texts: Files = {output: review_file.write([review_file.review_of(result, result.gold)])}
    else:
        texts = render([result.gold], output, format=format)
    deliver(outputs, {"-o": texts}, [result], (*findings, *lost), reporting)


def _decoded(path: Path, task: Task) -> Result:
    """Make a result of a solver's answer, checked like that of an engine."""
    from_file = path != Path("-")
    text = read_text(path) if from_file else decode(sys.stdin.buffer.read(), "standard input")
    with reading(path):
        printed = read_answers(text)
        engine = _printed_answer(printed, path)
    result = adjudicate_document(task.annotations, task.decisions, task.settings, solver=("decoded", engine))
    return result.of_review(task.notes, task.homes).with_more(_findings(printed, result))


def _printed_answer(printed: Printed, path: Path) -> Engine:
    """Return an engine that answers with these chains; a simple bound is all that is proven of them."""
    partition = printed.best.partition

    def solve(instance: Instance, limits: Limits, progress: Progress) -> Solution:  # noqa: ARG001
        for broken in violations(instance, partition):
            raise InputError(
                f"{path}: this answer does not fit the files and options: {broken}. Give those that "
                "`caspr encode` was given"
            )
        value = price(instance, partition).total
        return Solution.of(value, min(value, pairwise_bound(instance)), [partition])

    return solve


def _findings(printed: Printed, result: Result) -> list[Finding]:
    """Say what the solver claims."""
    cost = printed.best.cost
    findings = []
    if printed.optimal:
        message = "the solver calls this optimal for its program, which CaspR did not prove"
        findings.append(note("solver-optimum", message))
    if cost is not None and cost != result.value:
        message = (
            f"the solver says that this costs {cost}; by the votes it costs {result.value}: its program had "
            "other options, or weak constraints of your own"
        )
        findings.append(warning("solver-cost", message))
    return findings
