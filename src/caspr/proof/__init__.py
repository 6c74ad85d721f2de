"""Trust: certify every answer, prove optimality in certificates, verify these without a solver."""
