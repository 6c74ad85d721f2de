"""Lines on standard error, and the refusal that `--strict` makes of warnings."""

from collections.abc import Iterable
from contextlib import suppress

import click

from caspr.errors import InputError
from caspr.text.findings import Finding, Severity, condensed, times


def print_findings(findings: Iterable[Finding]) -> None:
    """Print what was found while documents were sorted, one line for what holds of several documents."""
    print_lines(condensed(findings))


def print_lines(lines: Iterable[object]) -> None:
    """Print lines, or findings, on standard error, where they do not mix with results."""
    with suppress(OSError):
        for line in lines:
            click.echo(str(line), err=True)


def warnings_of(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that `--strict` refuses."""
    return [finding for finding in findings if finding.severity is Severity.WARNING]


def refuse_warnings(findings: Iterable[Finding], *, printed: bool = False) -> None:
    """Raise what `--strict` makes of warnings; the first is quoted unless all were printed before."""
    warnings = warnings_of(findings)
    if warnings:
        first = "" if printed else f"; first: {warnings[0]}"
        raise InputError(f"--strict: found {times(len(warnings), 'warning')}, expected none{first}")
