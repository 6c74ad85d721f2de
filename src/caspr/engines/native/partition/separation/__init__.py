"""Separation: inequalities that the point of a relaxation violates."""
