"""What is asked and what an engine must answer: votes, objective, rules, decisions, limits, solution."""
