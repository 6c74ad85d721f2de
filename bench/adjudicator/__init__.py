"""An adjudicator who answers the questions of the review page from a gold standard, without HTTP.

    python -m bench.adjudicator FOLDER... [--documents 30] [--order valuable]

`oracle` answers cards of the page, `pairs` has the questions about pairs of mentions that the page asked
before there were cards, `simulation` works through a document and scores the result after each answer.
"""
