"""A test of a library with one fault: python -m unittest, or pytest. SOLVER is the library."""
import ctypes
import os
import unittest


class Solver(unittest.TestCase):
    def test_relaxes(self):
        solver = ctypes.CDLL(os.environ["SOLVER"])
        self.assertEqual(solver.relaxed(1000), 0)  # the call


if __name__ == "__main__":
    unittest.main()
