#!/usr/bin/env python3
"""scripts/setup on a system without dpkg: programs in its place are stubs.

usage: setup_test.py SOURCE
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path()
REAL = ["bash", "dirname", "cat", "mkdir", "sed"]
NEEDED = ["cmake", "ninja", "git", "python3", "mpicc"]


class SetupWithoutDpkg(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        for name in ("scripts", "bin", "llvm"):
            (self.folder / name).mkdir()
        shutil.copy(SOURCE / "scripts/setup", self.folder / "scripts/setup")
        for name in REAL:
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        for name in NEEDED:
            self.stub(f"bin/{name}")
        # Says that it has every header but lz4's, where that is to be missing.
        self.stub("bin/c++", 'read -r include; [[ ! -f missing || $include != *lz4.h* ]]')
        self.stub("bin/llvm-config-19", f"echo {self.folder}/llvm")
        for name in ("llvm/libPollyISL.a", "cuda/include/cuda.h", "cuda/include/nv/target", "cuda/bin/nvcc"):
            self.stub(name)

    def tearDown(self):
        self.temporary.cleanup()

    def stub(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
        path.chmod(0o755)

    def run_setup(self):
        return subprocess.run([self.folder / "scripts/setup"], capture_output=True, text=True, timeout=100,
                              env={"PATH": f"{self.folder}/bin", "CUDA_HOME": f"{self.folder}/cuda"})

    def test_goes_on_where_all_is_found(self):
        result = self.run_setup()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("used by tests, lint and benches alone: ccache (ccache)", result.stderr)
        self.assertEqual((self.folder / "build/cuda-home").read_text(), f"{self.folder}/cuda\n")

    def test_names_what_is_missing(self):
        (self.folder / "missing").touch()
        for name in ("bin/ninja", "llvm/libPollyISL.a"):
            (self.folder / name).unlink()
        result = self.run_setup()
        self.assertEqual(result.returncode, 1)
        named = [line.split()[1] for line in result.stderr.splitlines() if line.startswith("setup:   ")]
        self.assertEqual(named, ["ninja", "lz4-devel", "polly-19-devel"])


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1))
    unittest.main()
