"""Large problems: only the pairs that differ from what is common to all are kept."""
