"""What annotators disagree on, how sure the result is about it, and why it decides as it does.

disputes.py    find_disputes: every link that some annotators gave and others did not, or all but the result
certainty.py   with_certainty: solve again for the disputed pairs: the same in every optimum? at which price
otherwise? reasons.py     Explainer: why the result decides a dispute as it does

Reports show this, `adjudicate` solves for it; so it lies below both.
"""
