"""What a partition costs and may do, recomputed from the votes."""
