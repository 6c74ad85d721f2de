"""Whole corpora: many documents, many cores, many machines.

    IN --plan--> jobs --journal: done already?--> worker processes, here or on a cluster
                                                          |
    OUT <-- one file per document, summary <-- journal <--+ outcomes

1. A *job* is one document with its sources; an *outcome* is what came of it: texts to write, or a reason.
2. Every job is done in a worker process that is supervised: whatever happens to it, there is an outcome.
3. Only this process writes, and only when an outcome is there, so that nothing is written twice or half.
4. Plan and journal live on the disk and are walked through, so that memory does not grow with the corpus.
"""
