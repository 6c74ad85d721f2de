"""The fixture that shows what a check is good for."""

import pytest

from caspr.proof import verify as package
from caspr.proof.verify import facts, parts, tree, verify
from caspr.task.instance import Instance
from tests.proof.verify.forging import Forgery, Plain, claimed, optimum, refused


@pytest.fixture
def forgery(monkeypatch: pytest.MonkeyPatch) -> Forgery:
    """Return a function that tries a forged proof with all checks, and with all checks but one."""

    def tried(instance: Instance, given: Plain, message: str, proves: int) -> bool:
        assert optimum(instance) < proves
        assert refused(instance, given, message)

        def lenient(condition: bool, reason: str) -> None:
            if message not in reason:
                facts.require(condition, reason)

        for module in (package, parts, tree):
            monkeypatch.setattr(module, "require", lenient)
        return verify(claimed(instance, proves, given), instance) == proves

    return tried
