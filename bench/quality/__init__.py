"""How close adjudications come to a gold standard, beside what else could be done with the same annotators.

    python -m bench.quality FOLDER --set objective=v --set objective=va,singletons=vote
    python -m bench.quality ds1 ds2 --documents 12

`judged` reads documents with their gold, `closures` and `crowd` make one annotation of several in ways that
need no optimisation, `responses` names all of these and CaspR with any settings, `scoring` pools scores
over documents and resamples them, `held_back` learns on other documents than those that are measured,
`simulated` makes annotators whose errors are known, `table` prints; `calibration`
counts how often decisions are wrong, by their votes.
"""
