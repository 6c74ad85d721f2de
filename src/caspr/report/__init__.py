"""Reports: Result -> text, Markdown, HTML or JSON values. Pure functions, which print and solve nothing.

summary_text, summary_json                   the outcome of each document, for people and for `--json`
explained_report                             the content of a report: disputes with reasons, agreement, scores
text_and_markdown, html_pages, report_json   the report in its formats
corpus_page                                  the overview of a corpus, in HTML
comparison_tables                            the agreement between annotators, as text and JSON values
passages, plots, differences, shared_ids     parts of the HTML pages
"""
