"""From outcomes to files: golds, tables and pages, put in place without losing anybody's edits."""
