"""Make the brute-force engine of worker processes fail in the way that a document's name says.

Python imports this module when its folder is on PYTHONPATH, so the faults happen in real processes.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if "caspr.corpus.worker" in " ".join(sys.orig_argv):
    from caspr import engines
    from caspr.engines import brute

    def solve(instance: Any, limits: Any, progress: Any) -> Any:
        name = instance.annotations[0].document.name
        if name.startswith("killed"):
            os.kill(os.getpid(), signal.SIGKILL)
        elif name.startswith("deadly"):
            # The Dask worker, which supervises this process.
            Path(os.environ["CASPR_TEST_PIDS"], f"{os.getpid()}").touch()
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
        elif name.startswith("hungry"):
            hoard = [bytearray(2**24) for _ in range(4096)]
            assert hoard
        elif name.startswith("sleepy"):
            solver = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            Path(os.environ["CASPR_TEST_PIDS"], str(os.getpid())).touch()
            Path(os.environ["CASPR_TEST_PIDS"], str(solver.pid)).touch()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(1000)
        elif name.startswith("slow"):
            Path(os.environ["CASPR_TEST_PIDS"], str(os.getpid())).touch()
            time.sleep(0.3)
        elif name.startswith("noisy"):
            os.write(1, b"a solver that prints to standard output\n")
        elif name.startswith("buggy"):
            raise ZeroDivisionError("a bug")
        return brute.solve(instance, limits, progress)

    engines.ENGINES["brute"] = lambda encoding: solve
