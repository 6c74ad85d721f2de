"""The review page: a human adjudicator decides, the rest of the document is optimised around the decisions.

What a click does, from the browser to the disk:

    static/input        `pointer` and `keys` select; `actions` makes an operation, a small JSON object
    static/state        `api` sends it together with the version of the document that the page shows
    server/guard        refuses whatever is not the user's own browser
    server/routes       one route for each request; changes are streamed to all open tabs
    project/project     finds the session of the document, in a project or a single file
    session             checks version and file, solves, writes, and only then answers
    history             one document: its snapshots, undo and redo
    operations          what the operation means: decisions added, changed or taken back
    solver              decisions in, certified result out, chains with lasting ids
    documents, record   the step, with who took it and when, in the file beside the review file
    session (`Store`)   the review file: locked, replaced as a whole, read again after an edit outside
    views               the JSON that the page receives; `static/state/types.d.ts` declares it for the page

`questions` says what is worth asking: the choices of each question, their prices and order, what is at stake.
Only `server` knows HTTP. The review file is the state: an operation that was answered is on the disk.
"""
