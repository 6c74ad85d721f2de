"""Column files, one token a line: documents, rows and coreference cells."""
