"""What annotators disagree on, how sure the result is about it, and why it decides as it does.

disputes    find_disputes: links on which annotators disagree, or all of them with the result
certainty   with_certainty: whether every optimum decides a pair alike, and the price of deciding otherwise
reasons     Explainer: why the result decides a dispute as it does

Reports show this and `adjudicate` computes it, so it lies below both.
"""
