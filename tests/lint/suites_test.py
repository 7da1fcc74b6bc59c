#!/usr/bin/env python3
"""scripts/suites tells a difference, and only numbers that are times are hidden:  suites_test.py SOURCE"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "scripts/suites.d"))
import programs  # noqa: E402

PROGRAM = programs.Program("suite", "name", [], [], "", re.compile("^votes"))


class Masks(unittest.TestCase):
    def test_hide_times_and_rates(self):
        for line, other in [("took 5 us", "took 17 us"), ("12.5ms, 3.2GB/s (1e-05 s).", "9.0ms, 4GB/s (2 s)."),
                            ("PASS checksum=8bee9d98 seconds=0.04", "PASS checksum=8bee9d98 seconds=1"),
                            ("Time in seconds:\n0.3", "Time in seconds:\n0.4"), ("votes 3", "votes 4"),
                            ("at 0x7f0012345678", "at 0x7f0012345000")]:
            self.assertEqual(PROGRAM.masked(line), PROGRAM.masked(other))

    def test_hide_no_result(self):
        for line, other in [("sum 5", "sum 6"), ("checksum=12345678 seconds=1", "checksum=12345679 seconds=1"),
                            ("checksum=8bee9d98 seconds=1", "checksum=8bee9d99 seconds=1"),
                            ("Time in seconds:\n0.3\n7", "Time in seconds:\n0.3\n8")]:
            self.assertNotEqual(PROGRAM.masked(line), PROGRAM.masked(other))


class List(unittest.TestCase):
    def test_names_each_program_once(self):
        names = [program.key for program in programs.load()]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertGreater(len(names), 100)

    def test_says_why_a_program_is_left_out(self):
        lines = (SOURCE / "scripts/suites.d/programs.txt").read_text().splitlines()
        self.assertFalse([line for line in lines if line.startswith("!") and not line.partition("|")[2].strip()])


class Comparison(unittest.TestCase):
    """A stand-in for `sluice` prints, plain and not, what the test gives it, and writes a file."""

    def judged(self, plain, under, *options):
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "bin/sluice"
            tool.parent.mkdir()
            tool.write_text(f'#!/bin/sh\ncase "$*" in *--off*) {plain};; *) {under};; esac\n')
            tool.chmod(0o755)
            return subprocess.run([SOURCE / "scripts/suites", "--build", folder, "--only", "samples/residual",
                                   "--limit", "20", *options], capture_output=True, text=True, timeout=200)

    def test_same_answers_pass(self):
        ran = self.judged("echo sum 5 in 3 s; echo 1 > file", "echo sum 5 in 4 s; echo 1 > file")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("1 programs compared, 0 with a difference", ran.stdout)

    def test_each_kind_of_difference_fails(self):
        for under in ("echo sum 6; echo 1 > file", "echo sum 5; echo 2 > file", "echo sum 5",
                      "echo sum 5; echo 1 > file; exit 3", "echo sum 5; echo more; echo 1 > file"):
            ran = self.judged("echo sum 5; echo 1 > file", under, "--modes", "cold")
            self.assertEqual(ran.returncode, 1, f"{under}: {ran.stdout}")
            self.assertIn("1 programs compared, 1 with a difference", ran.stdout)

    def test_what_hangs_is_told(self):
        ran = self.judged("echo 1", "sleep 30", "--limit", "0.5", "--modes", "cold")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("cold over the limit", ran.stdout)

    def test_lines_that_vary_without_sluice_are_not_compared(self):
        ran = self.judged("echo seed $$; echo 5", "echo seed 1; echo 5", "--modes", "cold")
        self.assertEqual(ran.returncode, 0, ran.stdout)

    def test_lines_that_vary_now_and_then_without_sluice_are_not_compared(self):
        # Its tenth run gives another sum.
        plain = ('mktemp "${0%/*}/ran.XXXXXX" > /dev/null; '
                 '[ $(ls "${0%/*}" | grep -c ran) -lt 10 ] && echo sum 5 || echo sum 6')
        ran = self.judged(plain, "echo sum 6", "--modes", "cold")
        self.assertEqual(ran.returncode, 0, ran.stdout)


if __name__ == "__main__":
    unittest.main()
