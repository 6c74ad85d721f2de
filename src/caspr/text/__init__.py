"""Documents and what annotators marked in them: no votes, no costs, no files."""
