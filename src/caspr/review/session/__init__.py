"""A review without HTTP: documents, their history, operations, questions and the review file."""
