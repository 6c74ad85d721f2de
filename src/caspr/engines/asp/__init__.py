"""The paper's system: answer set programs, and the solvers that optimise over them.

program.py     Instance -> facts and encodings as text
answers.py     the text of an answer set -> Partition
drive.py       what a running solver has found so far, and the two passes that list all optima
clingo.py      clingo through its Python API, in this process or a supervised child
pipe.py        gringo | clasp and gringo | wasp as pipes of processes
processes.py   run such pipes within limits, leaving no process
encodings/     the paper's figures, one file each
"""
