"""Doing the jobs: supervised worker processes here or on a cluster, and the journal of what is done."""
