"""The start page: everything from annotators' files to exports by clicking, for people without a terminal.

A button runs a command of the command line, in a process of its own, and the page shows that command. So
nothing is solved, checked or written in two ways, what is dropped on the page is read outside of the server,
and a cancel ends a process.

    folders     where the user may look, what was dropped, which projects were opened lately
    draft       what is known about a project while it is made: its files, names, answers
    questions   the questions of docs/choosing.md, and the options that answers stand for
    remedies    what `caspr check` found, and what to do about it on the page
    steps       commands, how far they are, and how they are cancelled
    reviews     review pages of the projects that somebody reviews, on ports of their own
    pages       the routes; templates/ and static/ are what the browser gets, with the styles of the review
    serve       the process, which ends when the last page is closed
    shortcut    a file to double-click
"""
