"""Reports: Result -> text, Markdown, HTML or JSON values. Pure functions, which print and solve nothing.

summary             the outcome of each document, for people and for `--json`
explained_report    disputes with reasons, agreement and scores: the report, and its text, Markdown and JSON
html_pages          the report as a page; passages and plots of all pages
feedback_page       what differs from the gold standard, for one annotator
corpus_page         the overview of a corpus
disagreements       kinds of disagreement in words
comparison_tables   agreement between annotators, weights and settings, as text and JSON values
paper               tables, figures and the methods paragraph for a paper
"""
