"""Writes a wheel of an installed tree: the package `sluice`, with bin/ and lib/ as in a build tree, and a console
entry that becomes the launcher.

usage: wheel.py INSTALLED OUTPUT_FOLDER GLIBC      GLIBC is the oldest that serves, as in 2.36
"""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

ENTRY = '''"""Sluice runs unmodified CUDA programs as a graph of thread-block tasks."""

import os
import pathlib
import sys


def main():
    """Becomes the launcher."""
    launcher = pathlib.Path(__file__).resolve().parent / "bin" / "sluice"
    os.execv(launcher, ["sluice", *sys.argv[1:]])
'''
MAIN = "from sluice import main\n\nmain()\n"
# A wheel holds no links, so libcuda.so and libcudart.so, which are some, stay out.
FOR_CPU = ["libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libsluice-cudart.so.12",
           "libsluice-cudart.so.13", "libsluice-audit.so", "libnvrtc.so.12",
           "libnvrtc.so.13", "libnvJitLink.so.12", "libnvJitLink.so.13"]
PARTS = {"bin/sluice": "bin/sluice",
         **{f"lib/sluice/{name}": f"lib/{name}"
            for name in ("sluice-tools", "libsluice.so", "libsluice-engine.so", "libsluice-analysis.so")},
         **{f"lib/sluice/cpu/{name}": f"lib/cpu/{name}" for name in FOR_CPU}}


class Wheel:
    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self.record = []

    def add(self, name, data, executable=False):
        info = zipfile.ZipInfo(name)  # of the first day that a zip file can tell
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100755 if executable else 0o100644) << 16
        data = data.encode() if isinstance(data, str) else data
        self.archive.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, record_name):
        self.archive.writestr(record_name, "\n".join([*self.record, f"{record_name},,", ""]))
        self.archive.close()


def main(installed, output, glibc):
    documents = installed / "share/doc/sluice"
    version = re.search(r"^version: (\S+)$", (documents / "CITATION.cff").read_text(), re.MULTILINE).group(1)
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_x86_64"
    information = f"sluice-{version}.dist-info"
    wheel = Wheel(output / f"sluice-{version}-{tag}.whl")
    wheel.add("sluice/__init__.py", ENTRY)
    wheel.add("sluice/__main__.py", MAIN)
    for source, target in PARTS.items():
        wheel.add(f"sluice/{target}", (installed / source).read_bytes(), executable=True)
    for file in sorted(documents.rglob("*")):
        if file.is_file():
            wheel.add(f"{information}/licenses/{file.relative_to(documents)}", file.read_bytes())
    wheel.add(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: sluice\nVersion: {version}\n"
              "Summary: Runs unmodified CUDA programs as a graph of thread-block tasks\nLicense: Apache-2.0\n"
              "Requires-Python: >=3.8\n\nsluice run -- python app.py\n")
    wheel.add(f"{information}/WHEEL", f"Wheel-Version: 1.0\nGenerator: sluice\nRoot-Is-Purelib: false\nTag: {tag}\n")
    wheel.add(f"{information}/entry_points.txt", "[console_scripts]\nsluice = sluice:main\n")
    wheel.close(f"{information}/RECORD")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3])
