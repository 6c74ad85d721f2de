"""CaspR merges the coreference annotations of several annotators into one provably optimal gold standard."""

__version__ = "0.1.0"
