"""Numbers about annotations: scores against a key, agreement, and annotators compared."""
