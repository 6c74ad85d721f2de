"""The paper's system: answer set programs, and the solvers that optimise over them.

program.py    Instance -> facts and encodings as text
solve.py      the search, what solvers answer, and the solvers: clingo, gringo | clasp, gringo | wasp
answers.py    what a solver printed elsewhere, read back
pipes.py      run pipes of programs within limits, leaving no process
encodings/    the paper's figures, one file each
"""
