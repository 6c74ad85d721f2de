"""Trust: certify every answer, write proofs of optimality, verify them without a solver."""
