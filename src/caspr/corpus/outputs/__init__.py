"""From outcomes to files: golds, tables and pages, written without losing changes made by hand."""
