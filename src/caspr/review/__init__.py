"""The review page: a human adjudicator decides, the rest of the document is optimised around it.

The way of a click, module by module:

    server        HTTP on the loopback, guarded by `guard`; `events` tells other tabs
    session       one review file with all its documents: versions, undo, what is on the disk
    operations    what a click means: decisions added, changed or taken back
    board         one document: decisions in, certified result out, chains with lasting ids
    entries       decisions with ids, and how a review file says them
    store         the review file: locked, written whole, read again when somebody else wrote it
    views         what the page is told
    questions     what is worth asking, the most valuable first

Nothing but `server` and `guard` knows HTTP. The review file is the state: what a click was answered with
is on the disk.
"""
