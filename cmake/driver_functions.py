#!/usr/bin/env python3
"""The names of the driver's functions, read from the toolkit's own headers.

As a command it writes a row SLUICE_UNSUPPORTED(name) for each that no table of the CPU device has:

usage: driver_functions.py --compiler CXX --include DIR --output OUT.def TABLE.def...
"""

import argparse
import pathlib
import re
import subprocess

# Declared in cudaProfiler.h, which NVIDIA's runtime wheel leaves out.
PROFILER_FUNCTIONS = ["cuProfilerInitialize", "cuProfilerStart", "cuProfilerStop"]
# Their declarations need headers of GL, EGL or VDPAU; the names are read from the plain text.
INTEROP_HEADERS = ["cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"]
DECLARATION = re.compile(r"\bCUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w+)\s*\(")


def declared_names(compiler, include):
    """Every driver function that cuda.h and its companions in `include` declare, in all forms."""
    # With the internal API version set, cuda.h declares every versioned and per-thread-stream form.
    text = subprocess.run(
        [compiler, "-E", "-P", "-x", "c++", "-D__CUDA_API_VERSION_INTERNAL", "-"],
        input=f'#include "{include / "cuda.h"}"\n',
        capture_output=True, text=True, check=True).stdout
    names = set(DECLARATION.findall(text)) | set(PROFILER_FUNCTIONS)
    for header in INTEROP_HEADERS:
        path = include / header
        if path.exists():
            names |= set(DECLARATION.findall(path.read_text(errors="replace")))
    if len(names) < 400:
        raise SystemExit(f"only {len(names)} driver functions found under {include}")
    return sorted(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    # The exported symbol is the last entry of a row.
    known = {name for table in arguments.tables
             for name in re.findall(r"^SLUICE_\w+\(.*?(\w+)\)$", table.read_text(), re.M)}
    missing = [name for name in declared_names(arguments.compiler, arguments.include)
               if name not in known]
    arguments.output.write_text("".join(f"SLUICE_UNSUPPORTED({name})\n" for name in missing))


if __name__ == "__main__":
    main()
