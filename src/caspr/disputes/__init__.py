"""What annotators disagree on, why it was decided as it was, and how sure each answer is."""
