"""From folders to jobs: which documents there are, and where each annotator's work on them lies."""
