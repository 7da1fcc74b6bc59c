"""Processes that compute while something else is measured."""
import contextlib
import subprocess
import sys


@contextlib.contextmanager
def busy(count):
    """So many of them meanwhile."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
