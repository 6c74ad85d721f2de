"""Whole corpora: many documents, many cores, many machines.

    IN --plan--> jobs --journal: done already?--> worker processes, here or on a cluster
                                                          |
    OUT <-- one file per document, summary <-- journal <--+ outcomes

1. A *job* is one document with its sources; an *outcome* is its result: files to write, or the reason for a
   failure.
2. Every job is done in a supervised worker process: whatever happens to the process, there is an outcome.
3. Only this process writes, and only complete outcomes, so that nothing is written twice or in part.
4. Plan and journal are on the disk and read row by row, so that memory does not grow with the corpus.
"""
