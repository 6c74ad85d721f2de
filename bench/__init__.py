"""Experiments and timings over the public API of CaspR; not shipped in the wheel."""
