#!/usr/bin/env python3
"""scripts/progress, and the scripts that take long, around stub steps, on a terminal and not.

usage: progress_test.py SOURCE_FOLDER
"""

import concurrent.futures
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRESS = pathlib.Path()
# Longer than the silence by so much that a busy machine does not matter.
SLOW = "import time; print('[1/2] Building slow.cpp', end='\\x1b[K', flush=True); time.sleep(4); print()"


def run(mode, code, seconds="1"):
    """Exit status, stdout and stderr of a Python program under scripts/progress, without a terminal."""
    result = subprocess.run([PROGRESS, mode, "step", sys.executable, "-c", code], capture_output=True, text=True,
                            env=dict(os.environ, SLUICE_PROGRESS_SECONDS=seconds))
    return result.returncode, result.stdout, result.stderr


def on_terminal(*command, **environment):
    """All that a terminal gets of it."""
    reader, writer = pty.openpty()
    child = subprocess.Popen(command, stdout=writer, stderr=writer,
                             env=dict(os.environ, SLUICE_PROGRESS_SECONDS="1", **environment))
    os.close(writer)
    text = b""
    while True:
        try:
            text += os.read(reader, 4096)
        except OSError:
            break
    os.close(reader)
    child.wait()
    return text.decode()


class Progress(unittest.TestCase):
    def test_a_slow_step_tells_that_it_goes_on(self):
        for mode in ("build", "quiet", "all"):
            with self.subTest(mode=mode):
                status, _, said = run(mode, SLOW)
                self.assertEqual(status, 0)
                self.assertRegex(said, r"step: \d+ s: (\[1/2\] Building slow.cpp|not a word yet)\n")

    def test_a_slow_step_tells_it_on_a_terminal(self):
        for mode in ("build", "quiet", "all"):
            with self.subTest(mode=mode):
                self.assertRegex(on_terminal(PROGRESS, mode, "step", sys.executable, "-c", SLOW), r"step: \d+ s: ")

    def test_a_silent_step_tells_it_too(self):
        self.assertRegex(run("all", "import time; time.sleep(4)")[2], r"step: \d+ s: not a word yet\n")

    def test_a_quick_build_says_nothing(self):
        self.assertEqual(run("build", "print('ninja: no work to do.')", "60"), (0, "", ""))

    def test_a_build_shows_errors_whole_and_gives_the_status(self):
        code = "import sys; print('[1/2] Building a.cpp', end='\\x1b[K'); print('\\rFAILED: a.o\\na.cpp:1: error'); sys.exit(3)"
        self.assertEqual(run("build", code, "60"), (3, "FAILED: a.o\na.cpp:1: error\n", ""))

    def test_what_is_quiet_shows_its_end_where_it_fails(self):
        status, _, said = run("quiet", "import sys; [print(i) for i in range(30)]; sys.exit(1)", "60")
        self.assertEqual((status, said), (1, "".join(f"{i}\n" for i in range(10, 30))))

    def test_a_signal_is_told_as_a_shell_does(self):
        self.assertEqual(run("all", "import os; os.kill(os.getpid(), 15)")[0], 128 + 15)


class Scripts(unittest.TestCase):
    """The scripts themselves, where one of the programs that they call takes long."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(PROGRESS.parent, self.root / "scripts")
        for name in ("build/build.ninja", "build/browser/chromium/any/headless_shell", "toolkit/include/cuda.h",
                     "toolkit/include/nv/target"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).touch()
        self.stub("toolkit/bin/nvcc", "exit 0")
        for name in ("ninja", "ctest", "apt-get"):
            self.stub(f"stubs/{name}", f'if [ "$SLOW" = {name} ]; then echo "[1/2] first"; sleep 4; fi')
        self.stub("stubs/dpkg-query", '[ "$SLOW" = apt-get ] || printf "install ok installed"')
        self.stub("stubs/sudo", 'exec "$@"')

    def stub(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def said_by(self, script, slow, terminal):
        command = self.root / "scripts" / script
        settings = {"SLOW": slow, "CUDA_HOME": str(self.root / "toolkit"),
                    "PATH": f"{self.root / 'stubs'}:{os.environ['PATH']}"}
        if terminal:
            return on_terminal(command, **settings)
        return subprocess.run([command], capture_output=True, text=True, check=False,
                              env=dict(os.environ, SLUICE_PROGRESS_SECONDS="1", **settings)).stderr

    def test_each_tells_that_a_slow_step_goes_on(self):
        cases = [(*case, terminal) for terminal in (True, False) for case in (
            ("setup", "apt-get", "setup: apt-get update"), ("build", "ninja", "build"), ("demo", "ninja", "build"),
            ("test", "ninja", "build"), ("test", "ctest", "test"))]
        with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
            outputs = list(pool.map(lambda case: self.said_by(case[0], case[1], case[3]), cases))
        for (script, slow, name, terminal), output in zip(cases, outputs):
            with self.subTest(script=script, slow=slow, terminal=terminal):
                self.assertRegex(output, rf"{name}: \d+ s: \[1/2\] first")


if __name__ == "__main__":
    PROGRESS = pathlib.Path(sys.argv[1]) / "scripts/progress"
    unittest.main(argv=sys.argv[:1])
