"""Ground a program of rules and print its only answer set: what `grounding` runs in a process of its own.

It imports nothing of CaspR, so that starting it takes no longer than loading clingo.
"""

import json
import signal
import sys
from typing import Any

CIRCLE = "they go round in a circle of `not`"


def answer_set(program: str) -> dict[str, str]:
    """Return the shown atoms of a program's only answer set in one line, or why there is not one."""
    import clingo

    errors: list[str] = []

    def log(code: Any, message: str) -> None:
        if code is clingo.MessageCode.RuntimeError or code is clingo.MessageCode.OperationUndefined:
            errors.append(message)

    control = clingo.Control(
        ["--warn=none", "--warn=operation-undefined", "--models=2"], logger=log, message_limit=20
    )
    try:
        control.add("base", [], program)
        control.ground([("base", [])])
    except RuntimeError as error:
        return {"error": errors[0] if errors else str(error)}
    if errors:
        return {"error": errors[0]}
    with control.solve(yield_=True) as models:
        shown = [str(model) for model in models]
    if len(shown) == 1:
        return {"atoms": shown[0]}
    return {"error": f"the rules have {'more than one' if shown else 'no'} answer set: {CIRCLE}"}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.stdout.write(json.dumps(answer_set(sys.stdin.read())) + "\n")
