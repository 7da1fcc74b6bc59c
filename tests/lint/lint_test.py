#!/usr/bin/env python3
"""scripts/lint and scripts/lint-structure on small trees, each with one thing wrong.

usage: lint_test.py SOURCE_FOLDER
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path()

SOUND = {
    "base/log.hpp": "#pragma once\n\nclass Log {\n public:\n  void write();\n\n private:\n  int lines_ = 0;\n};\n",
    "analysis/shape.hpp": '#pragma once\n\n#include "base/log.hpp"\n',
    "dro/edges.hpp": '#pragma once\n\n#include "analysis/shape.hpp"\n',
    "megakernel/run.cpp": '#include "dro/edges.hpp"\n#include "hostcuda/block_abi.h"\n',
    "runtime/window.hpp": '#pragma once\n\n#include "dro/edges.hpp"\n',
    "interpose/shim.cpp": '#include "runtime/window.hpp"\n',
    "hostcuda/block_abi.h": "#pragma once\n",
    "hostcuda/driver.cpp": '#include "base/log.hpp"\n',
    "samples/stencil/stencil.cpp": "int main() {}\n",
    "tests/log_test.cpp": '#include "base/log.hpp"\n',
    "scripts/lint-debts.txt": "# None.\n",
}


def large_class(methods, members):
    lines = [f"  void method_{i}();\n" for i in range(methods)] + ["\n private:\n"]
    lines += [f"  int member_{i}_ = 0;\n" for i in range(members)]
    return "#pragma once\n\nclass Large {\n public:\n  Large();\n  ~Large();\n" + "".join(lines) + "};\n"


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        for name in ("scripts/lint", "scripts/lint-structure", ".clang-format"):
            shutil.copy(SOURCE / name, self.root / name)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)
        for name, text in SOUND.items():
            self.write(name, text)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def lint(self, *command):
        subprocess.run(["git", "add", "--all"], cwd=self.root, check=True)
        result = subprocess.run(command or ["scripts/lint-structure"], cwd=self.root,
                                capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def expect_one(self, expected):
        self.assertEqual(self.lint(), (1, f"lint-structure: {expected}\n"))

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.lint(), (0, ""))
        self.assertEqual(self.lint("scripts/lint", "--format"), (0, ""))

    def test_a_wanted_folder_is_missing(self):
        shutil.rmtree(self.root / "samples")
        self.expect_one("folder samples/stencil: is missing")

    def test_sources_lie_in_a_folder_of_their_own(self):
        self.write("src/log.cpp", "")
        self.expect_one("folder src: its parts belong at the top")

    def test_an_include_goes_upward(self):
        self.write("base/log.cpp", '#include "runtime/window.hpp"\n')
        self.expect_one("include base/log.cpp: runtime/window.hpp is not below it")

    def test_the_device_includes_what_it_does_not_stand_on(self):
        self.write("hostcuda/stream.cpp", '#include "analysis/shape.hpp"\n')
        self.expect_one("include hostcuda/stream.cpp: analysis/shape.hpp is not below it")

    def test_more_of_the_device_is_shared_than_its_header(self):
        self.write("hostcuda/driver.hpp", "#pragma once\n")
        self.write("runtime/window.cpp", '#include "hostcuda/driver.hpp"\n')
        self.expect_one("include runtime/window.cpp: hostcuda/driver.hpp is not below it")

    def test_the_devices_header_is_included_where_nobody_needs_it(self):
        self.write("analysis/kernel.cpp", '#include "hostcuda/block_abi.h"\n')
        self.expect_one("include analysis/kernel.cpp: hostcuda/block_abi.h is not below it")

    def test_files_include_each_other(self):
        self.write("base/a.hpp", '#pragma once\n#include "base/b.hpp"\n')
        self.write("base/b.hpp", '#pragma once\n#include "c.hpp"\n')
        self.write("base/c.hpp", '#pragma once\n#include "../base/a.hpp"\n')
        self.expect_one("circle base/a.hpp, base/b.hpp, base/c.hpp: they include each other")

    def test_a_folder_is_crowded(self):
        for folder in ("base", "tests/unit", "bench/flow"):
            for i in range(26 - (folder == "base")):
                self.write(f"{folder}/file_{i}.cpp", "")
        status, output = self.lint()
        self.assertEqual(status, 1)
        for folder in ("base", "tests/unit", "bench/flow"):
            self.assertIn(f"crowd {folder}: 26 files; 25 at most\n", output)

    def test_a_full_folder_is_not_crowded(self):
        for i in range(25):
            self.write(f"tests/unit/file_{i}.cpp", "")
        self.assertEqual(self.lint(), (0, ""))

    def test_a_class_is_large(self):
        self.write("base/large.hpp", large_class(21, 15))
        self.expect_one("class base/large.hpp Large: 21 methods; 20 at most")
        self.write("base/large.hpp", large_class(20, 16))
        self.expect_one("class base/large.hpp Large: 16 members; 15 at most")
        self.write("base/large.hpp", large_class(20, 15))
        self.assertEqual(self.lint(), (0, ""))

    def test_exceptions_are_few(self):
        script = self.root / "scripts/lint-structure"
        names = {f"Large{i}": "for a reason" for i in range(4)}
        script.write_text(script.read_text().replace("LARGE_CLASSES = {}", f"LARGE_CLASSES = {names}"))
        self.assertEqual(self.lint()[0], 1)

    def test_a_debt_passes_until_it_grows_or_goes(self):
        self.write("base/large.hpp", large_class(22, 0))
        self.write("scripts/lint-debts.txt", "class base/large.hpp Large: 22 methods; 20 at most\n")
        self.assertEqual(self.lint(), (0, ""))
        self.write("base/large.hpp", large_class(23, 0))
        self.expect_one("class base/large.hpp Large: 23 methods; 20 at most")
        self.write("base/large.hpp", large_class(21, 0))
        self.assertEqual(self.lint(), (0, ""))
        self.write("base/large.hpp", large_class(20, 0))
        self.expect_one("class base/large.hpp Large: 22 methods; 20 at most (no longer so: take it "
                        "out of scripts/lint-debts.txt)")

    def test_nothing_is_found(self):
        for name in SOUND:
            if name.endswith((".cpp", ".hpp", ".h")):
                (self.root / name).unlink()
        for command in (["scripts/lint-structure"], ["scripts/lint", "--format"]):
            status, output = self.lint(*command)
            self.assertEqual(status, 1)
            self.assertIn("found no source file", output)

    def test_a_file_is_badly_formatted(self):
        self.write("base/log.cpp", "int  a ;\n")
        status, output = self.lint("scripts/lint", "--format")
        self.assertEqual(status, 1)
        self.assertIn("clang-format", output)

    def test_lint_checks_the_structure_too(self):
        self.write("src/log.cpp", "")
        self.assertEqual(self.lint("scripts/lint", "--format")[0], 1)


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
