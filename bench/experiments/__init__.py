"""The paper's experiments, repeatable: systems x encodings x objectives x documents, within limits.

options.py   the options of the command: what to compare
plan.py      which runs there are, and in which order
documents.py the documents: generated like the paper's datasets, or folders of your own
watch.py     a command within limits of time and memory, measured over its whole process tree
run.py       one run: a watched child process, and its outcome
store.py     results, appended line by line, so that an interrupted experiment can be resumed
paper.py     the figures the paper printed
table.py     the paper's table, from our runs
render.py    the same as text, Markdown and CSV
plots.py     cactus, scatter and growth plots
report.py    all of these into a folder
"""
