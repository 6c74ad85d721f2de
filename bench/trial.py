"""Try the mutants of one module in one process that has collected its tests; see `bench.mutants`.

Tests are collected once. Each is then run unchanged in a fork of its own, which says how long it takes and
which functions of the module it reaches: there, each function says when it is called. Each mutant gets a
fork, too, in which the code of its function is replaced where it is, and the tests that reach this function
are run, the quickest and those that have killed before first, until one fails. Nothing is written, so that
the tree may be edited meanwhile.
"""

import ast
import gc
import os
import pickle
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from inspect import CO_OPTIMIZED
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryFile
from types import CodeType, FunctionType
from typing import Any

import pytest

from bench.mutation import Mutant

MEMORY = 4 << 30
"""How much address space the tests of a mutant get: one that adds to a list for ever is killed by this."""
PATIENCE = 3
"""How many times the processor time that a test takes unchanged it gets with a mutant."""
START = 2
"""Seconds that it gets besides."""
QUICKLY = ("-q", "--tb=line", "--assert=plain", "-p", "no:cacheprovider")
"""To say in words why a mutant fails may take longer than the test."""
PRINTED = 3000
"""How many characters of what pytest printed are shown."""
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Without these, plugins slow every test down, and threads of numpy do not survive a fork."""

REACHED = "_reached_"
"""The name, in the module, of what a function calls to say that it is reached."""
Place = tuple[str, int]
"""A function: its qualified name and its first line."""
Report = tuple[int, str]
"""The number of a mutant, and `killed`, `stopped` or `survived`."""


def try_mutants(
    root: Path, path: str, tests: Sequence[str], mutants: Sequence[Mutant], timeout: float
) -> Iterator[Report]:
    """Try the mutants of a module below src/caspr in a new process.

    Raise `SystemExit` if a test fails without any mutant.
    """
    context = get_context("spawn")
    reports, sending = context.Pipe(duplex=False)
    arguments = (root, path, tests, mutants, timeout, sending)
    process = context.Process(target=_try, args=arguments)
    process.start()
    sending.close()
    try:
        with suppress(EOFError):
            while True:
                report = reports.recv()
                if isinstance(report, str):
                    raise SystemExit(f"mutants: {report}")
                yield report
    finally:
        process.terminate()
        process.join()


def _try(
    root: Path,
    path: str,
    tests: Sequence[str],
    mutants: Sequence[Mutant],
    timeout: float,
    reports: "Connection[Any, Any]",
) -> None:
    """Collect tests and try mutants, in a new process."""
    os.chdir(root)
    os.environ.update(ENVIRONMENT)
    sys.path[:0] = [str(root / "src"), str(root)]
    there = [test for test in tests if (root / test.partition("::")[0]).exists()]
    module = root / "src/caspr" / path
    trial = Trial(module, module.read_text(encoding="utf-8"), mutants, timeout, reports)
    with TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        pytest.main([*QUICKLY, *there], plugins=[trial])
        printed.seek(0)
        if not trial.sound:
            reports.send(
                f"the tests of {path} fail without any mutant:\n{printed.read().decode()[-PRINTED:]}"
            )


@dataclass(eq=False)
class Trial:
    """A plugin of pytest that tries mutants in the place of running tests."""

    module: Path
    source: str
    """What the module holds before its tests are collected; it may be edited later."""
    mutants: Sequence[Mutant]
    timeout: float
    reports: "Connection[Any, Any]"
    sound: bool = False
    """Whether all tests pass without any mutant."""
    failed: bool = False
    """Whether a test has failed, in a fork."""
    seconds: dict[str, float] = field(default_factory=dict)
    """How much processor time each test takes unchanged."""
    reached: dict[str, set[int]] = field(default_factory=dict)
    """The first lines of the functions of the module that each test reaches."""
    kills: Counter[str] = field(default_factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed."""
        self.failed = self.failed or report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every test unchanged, then the mutants."""
        if session.testsfailed or not session.items:
            return True
        functions = _functions(self.module)
        for item in session.items:
            known = forked(partial(self._unchanged, item, functions), self.timeout)
            if known is None:
                return True
            self.seconds[item.nodeid], self.reached[item.nodeid] = known
        self.sound = True
        original = list(_codes(self.source, self.module))
        for number, mutant in enumerate(self.mutants):
            changed = list(_codes(mutant.text, self.module))
            new = {_place(old): code for old, code in zip(original, changed, strict=True) if old != code}
            tests = self._chosen(session.items, _around(original, mutant.line))
            self.reports.send((number, self._verdict(tests, functions, new)))
        return True

    def _unchanged(
        self, item: pytest.Item, functions: Mapping[Place, Sequence[FunctionType]]
    ) -> tuple[float, set[int]] | None:
        """Run one test; return how long it takes and what it reaches, or `None` if it fails."""
        reached: set[int] = set()
        for code in _codes(_noting(self.source), self.module):
            for function in functions.get(_place(code), ()):
                function.__code__ = code
                function.__globals__[REACHED] = reached.add
        begin = time.process_time()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return None if self.failed else (time.process_time() - begin, reached)

    def _chosen(self, items: Sequence[pytest.Item], line: int) -> list[pytest.Item]:
        """Return the tests that reach a function, the most promising first."""
        chosen = [item for item in items if line in self.reached[item.nodeid]]
        return sorted(chosen, key=lambda item: self.seconds[item.nodeid] / (1 + self.kills[item.nodeid]))

    def _verdict(
        self,
        tests: Sequence[pytest.Item],
        functions: Mapping[Place, Sequence[FunctionType]],
        new: Mapping[Place, CodeType],
    ) -> str:
        killer = forked(partial(self._first_failing, tests, functions, new), self.timeout)
        if killer is None:
            return "stopped"
        self.kills[killer] += 1
        return "killed" if killer else "survived"

    def _first_failing(
        self,
        tests: Sequence[pytest.Item],
        functions: Mapping[Place, Sequence[FunctionType]],
        new: Mapping[Place, CodeType],
    ) -> str:
        """Put new code into functions and run tests until one fails; return its name."""
        for place, code in new.items():
            for function in functions.get(place, ()):
                function.__code__ = code
        for item, following in zip(tests, (*tests[1:], None), strict=False):
            _allow(START + PATIENCE * self.seconds[item.nodeid])
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return item.nodeid
        return ""


def _allow(seconds: float) -> None:
    """Have this process killed once it takes so much more processor time."""
    import resource  # which Windows does not have

    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent + seconds) + 1, resource.RLIM_INFINITY))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)


def forked(work: Callable[[], Any], timeout: float) -> Any:
    """Return what a function returns in a fork; `None` if it takes too long, too much memory, or dies."""
    import resource

    receiving, sending = Pipe(duplex=False)
    child = os.fork()
    if not child:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            sending.send_bytes(pickle.dumps(work()))
        finally:
            os._exit(0)
    sending.close()
    try:
        return pickle.loads(receiving.recv_bytes()) if receiving.poll(timeout) else None
    except EOFError:
        return None
    finally:
        receiving.close()
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _noting(source: str) -> ast.Module:
    """Have every function of a source begin by calling `REACHED` with its first line."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            node.body[:0] = ast.parse(f"{REACHED}({line})").body
    return tree


def _codes(source: str | ast.Module, module: Path) -> Iterator[CodeType]:
    """Yield the codes of all functions that are not inside another, in the order of the source."""
    yield from _below(compile(source, str(module), "exec", dont_inherit=True))


def _below(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & CO_OPTIMIZED:
                yield constant
            else:
                yield from _below(constant)


def _place(code: CodeType) -> Place:
    return code.co_qualname, code.co_firstlineno


def _around(codes: Sequence[CodeType], line: int) -> int:
    """Return where the function begins that holds a line."""
    return max(code.co_firstlineno for code in codes if code.co_firstlineno <= line)


def _functions(module: Path) -> Mapping[Place, Sequence[FunctionType]]:
    """Find the functions of a module, decorated ones and methods included."""
    functions: dict[Place, list[FunctionType]] = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == str(module):
            functions.setdefault(_place(function.__code__), []).append(function)
    return functions
