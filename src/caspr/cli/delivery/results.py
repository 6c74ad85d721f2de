"""Deliver results: the files of a command with all that is written and printed about them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from caspr.cli.delivery.messages import print_findings, print_lines, refuse_warnings, warnings_of
from caspr.cli.delivery.outputs import Files, Output, OutputKind, Outputs, requested
from caspr.report.summary_json import summary
from caspr.report.summary_text import summary_lines
from caspr.result import Result
from caspr.task.solution import Stop
from caspr.text.findings import Finding


@dataclass(frozen=True)
class Reporting:
    """What a command writes and prints about its results, beside the gold standards."""

    json_path: Path | None = None
    """Where to write a summary for programs."""
    certificate: Path | None = None
    """Where to write proofs of optimality."""
    report: Path | None = None
    """Where to write a report that explains every dispute."""
    feedback: Path | None = None
    """The folder for a page for each annotator."""
    strict: bool = False
    """Whether warnings are errors."""
    quiet: bool = False
    """Whether to print nothing but errors."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Reporting":
        """Take what a command's options say."""
        return cls(**{field.name: given[field.name] for field in fields(cls) if field.name in given})

    def outputs(self, annotators: Iterable[str]) -> tuple[Output, ...]:
        """Return what is to be written; refuse a report without a format."""
        return (
            *requested("--json", self.json_path),
            *requested("--certificate", self.certificate),
            *self._pages(annotators),
        )

    def _pages(self, annotators: Iterable[str]) -> Iterator[Output]:
        if self.report is None and self.feedback is None:
            return  # The templates of pages are not loaded for nothing.
        from caspr.cli.delivery.reports import file_names, format_of

        if self.report is not None:
            format_of(self.report, None)
            yield Output("--report", self.report)
        if self.feedback is not None:
            files = tuple(self.feedback / name for name in file_names(annotators).values())
            yield Output("--feedback", self.feedback, OutputKind.FOLDER, files)

    def files(self, results: Sequence[Result]) -> tuple[dict[str, Files], tuple[Finding, ...]]:
        """Return certificate, report and feedback by option, with a finding per document without proof."""
        texts: dict[str, Files] = {}
        unproven: tuple[Finding, ...] = ()
        if self.certificate is not None:
            from caspr.proof.prove import prove_results

            data, unproven = prove_results(results)
            texts["--certificate"] = {self.certificate: json.dumps(data, separators=(",", ":")) + "\n"}
        if self.report is not None or self.feedback is not None:
            from caspr.cli.delivery.reports import feedback_texts, format_of, report_text

            if self.report is not None:
                texts["--report"] = {self.report: report_text(results, format_of(self.report, None))}
            if self.feedback is not None:
                texts["--feedback"] = feedback_texts(results, self.feedback)
        return texts, unproven


def deliver(
    outputs: Outputs,
    contents: Mapping[str, Files],
    results: Sequence[Result],
    findings: Sequence[Finding],
    reporting: Reporting,
) -> None:
    """Write all files, or only the summary if `--strict` refuses warnings, and print what was found."""
    summaries: dict[str, Files] = {}
    if reporting.json_path is not None:
        summaries["--json"] = {reporting.json_path: json_text(summary(results, findings))}
    all_findings = (*findings, *(finding for result in results for finding in result.findings))
    refused = reporting.strict and bool(warnings_of(all_findings))
    written = summaries if refused else {**contents, **summaries}
    kept = outputs.write(written, keep_old=any(one.solution.stop is Stop.INTERRUPT for one in results))
    if not reporting.quiet:
        print_lines(summary_lines(results))
        print_findings(findings)
        print_lines(outputs.written(written))
        print_lines(f"rewrote {path}; its old version is kept as {copy}" for path, copy in kept.items())
    if refused:
        refuse_warnings(all_findings)


def json_text(values: dict[str, Any]) -> str:
    """Render values as people can read them, too."""
    return json.dumps(values, indent=2) + "\n"
