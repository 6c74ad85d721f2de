"""A review without HTTP: documents, their histories, operations, questions and the review file."""
