"""The review page: a human adjudicator decides, the rest of the document is optimised around the decisions.

What a click does, module by module:

    static/input        a key or click becomes an operation, a small JSON object
    static/state        `api` sends it together with the version of the document that the page shows
    server/guard        refuses whatever is not the user's own browser
    server/routes       one route for each request; `events` streams changes to all open tabs
    session/session     checks version and file, solves, writes the file, and only then answers
    session/operations  what the operation means: decisions added, changed or taken back
    session/history     one document: its snapshots, undo and redo
    session/solver      decisions in, certified result out, chains with lasting ids
    session/entries     decisions with ids, and how a review file expresses them
    session/store       the review file: locked, replaced as a whole, read again after an edit outside
    session/views       the JSON that the page receives; `static/state/types.d.ts` declares it for the page
    questions           what is worth asking, the choices of each question, their order, what is at stake

Only `server` knows HTTP. The review file is the state: an operation that was answered is on the disk.
"""
