"""Mentions that must not stay alone, and chains that used links must hold together."""
