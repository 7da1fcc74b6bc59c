#!/usr/bin/env python3
"""What scripts/package made runs where nothing else is.

usage: package_test.py SOURCE BUILD PACKAGES TEST
A bare root holds the package, the libraries that it declares, and the programs that are copied in; they run
there by chroot, where namespaces of mounts may be made, and else with its libraries first in the search path.
"""

import ensurepip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD, PACKAGES = (pathlib.Path(argument) for argument in sys.argv[1:4])
SKIPPED = 77
STENCIL = ["--size", "256", "--iterations", "20", "--block", "32,8"]
LARGE_STENCIL = ["--size", "2048", *STENCIL[2:]]  # for more than one worker, where there are more
# Where each is found on the system that lends its libraries.
GLIBC = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"]
LOADER = "/lib64/ld-linux-x86-64.so.2"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def output_of(*command, **options):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=250, **options)
    if result.returncode != 0:
        sys.exit(f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def only(pattern):
    found = list(PACKAGES.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{len(found)} files {pattern} in {PACKAGES}")
    return found[0]


class Root:
    def __init__(self, folder, launcher):
        self.folder, self.launcher = folder, launcher
        for name in ("proc", "tmp", "home"):
            (folder / name).mkdir()
        self.borrow(LOADER)
        for program in ("samples/stencil", "tests/count_multiprocessors"):
            shutil.copy(BUILD / program, folder)
        self.unshare = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
        self.enter = [*self.unshare, "sh", "-c", 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"', folder]
        self.is_entered = shutil.which("unshare") is not None and subprocess.run(
            [*self.unshare, "mount", "--rbind", "/proc", folder / "proc"], capture_output=True,
            check=False).returncode == 0
        if not self.is_entered:
            print("no namespace of mounts here: run outside, with the root's libraries first in the search path")

    def borrow(self, path):
        target = self.folder / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)  # what a link leads to

    def run(self, *command):
        environment = {"PATH": PATH, "HOME": "/home", "SLUICE_GOVERNOR": "off", "SLUICE_ANALYSIS": "wait"}
        if self.is_entered:
            return output_of(*self.enter, *command, env=environment)
        folders = {str(file.parent) for file in self.folder.glob("**/*.so*") if "sluice" not in file.parts}
        environment |= {"LD_LIBRARY_PATH": ":".join(sorted(folders)), "HOME": str(self.folder / "home")}
        outside = [str(part) if not re.match(r"/(tmp|stencil|count|opt|usr)", str(part)) else f"{self.folder}{part}"
                   for part in command]
        return output_of(*outside, env=environment)

    def sluice(self, *arguments):
        return self.run(self.launcher, *arguments)

    def check(self):
        print(self.sluice("--version"))
        outputs = [self.sluice("run", "--device", "cpu", *options, "--", "/stencil", *STENCIL)
                   for options in (["--off"], ["--journal", "/tmp/journal"])]
        checksums = {re.search(r"PASS .*checksum=(\w+)", output).group(1) for output in outputs}
        assert len(checksums) == 1, checksums
        summary = self.sluice("inspect", "/tmp/journal")
        assert "\n20 launches: 20 as tasks" in summary, summary
        if self.is_entered:
            self.check_quota()

    def check_quota(self):
        """With a quota of one processor the device has one, and one worker runs tasks."""
        groups = self.folder / "sys/fs/cgroup"
        (groups / "cpu").mkdir(parents=True)
        (groups / "cpu.max").write_text("100000 100000\n")
        (groups / "cpu/cpu.cfs_quota_us").write_text("100000\n")
        (groups / "cpu/cpu.cfs_period_us").write_text("100000\n")
        count = self.sluice("run", "--device", "cpu", "--off", "--", "/count_multiprocessors")
        assert count == "1\n", count
        self.sluice("run", "--device", "cpu", "--trace", "--journal", "/tmp/traced", "--", "/stencil",
                    *LARGE_STENCIL)
        self.sluice("inspect", "--trace", "/tmp/trace.json", "/tmp/traced")
        events = json.loads((self.folder / "tmp/trace.json").read_text())
        events = events["traceEvents"] if isinstance(events, dict) else events
        workers = {event["tid"] for event in events if event["ph"] == "X"}
        assert len(workers) == 1, workers


def packages_with(names):
    """The packages of those names and all that they depend on, as installed here."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        depends = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}, ${Pre-Depends}", name], capture_output=True,
                                 text=True, check=False)
        if depends.returncode == 0:
            found.add(name)
            waiting += re.findall(r"(?:^|[,|]\s*)([a-z0-9][a-z0-9.+-]+)", depends.stdout)
    return found


def deb_runs_in_a_bare_root(folder):
    if not shutil.which("dpkg-deb"):
        return SKIPPED
    package = only("*.deb")
    output_of("dpkg-deb", "-x", package, folder)
    root = Root(folder, "/usr/bin/sluice")
    declared = re.findall(r"(?:^|, )([a-z0-9.+-]+)", output_of("dpkg-deb", "-f", package, "Depends").strip())
    for name in sorted(packages_with(declared)):
        for path in output_of("dpkg", "-L", name).splitlines():
            if re.search(r"\.so(\.[\d.]+)?$", path) and "/gconv/" not in path and os.path.isfile(path):
                root.borrow(path)
    root.check()
    return 0


def check_notices(unpacked):
    """The notices name GNU's libraries where they are linked in, and have each licence's text."""
    documents = unpacked / "share/doc/sluice"
    notices = (documents / "NOTICES").read_text()
    for text in re.findall(r"its text: licences/([^,]+),", notices):
        assert (documents / "licences" / text).is_file() or not shutil.which("dpkg-query"), text
    for file, library, notice in (("bin/sluice", "libc", "GNU C library, in bin/sluice"),
                                  ("lib/sluice/libsluice.so", "libstdc++", "GNU C++ and compiler libraries")):
        needed = re.findall(r"NEEDED +(\S+)\.so", output_of("objdump", "-p", unpacked / file))
        assert (notice in notices) == (library not in needed), (file, needed, notices)


def archive_runs_in_a_bare_root(folder):
    output_of("tar", "-C", folder, "-xzf", only("*.tar.gz"))
    (folder / "opt").mkdir()
    unpacked = next(folder.glob("sluice-*")).rename(folder / "opt/anywhere")
    check_notices(unpacked)
    root = Root(folder, "/opt/anywhere/bin/sluice")
    known = dict(re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)$",
                            output_of("ldconfig", "-p", env={"PATH": PATH}), re.MULTILINE))
    readme = (unpacked / "share/doc/sluice/README").read_text()
    for name in [*GLIBC, *re.findall(r"^  (lib\S+\.so\S*)$", readme, re.MULTILINE)]:
        root.borrow(known[name])
    root.check()
    return 0


def wheel_runs_in_an_environment(folder):
    # pip runs from the wheel that Python would install it from, which is a thousand files.
    bundled = [*pathlib.Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"),
               *pathlib.Path("/usr/share/python-wheels").glob("pip-*.whl")]
    output_of(sys.executable, "-m", "venv", *(["--without-pip"] if bundled else []), folder / "venv")
    programs = folder / "venv/bin"
    output_of(programs / "python", "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", "--no-compile",
              "--disable-pip-version-check", only("*.whl"),
              env={"PATH": PATH, "HOME": str(folder), "PYTHONPATH": str(bundled[0]) if bundled else ""})
    environment = {"PATH": f"{programs}:{PATH}", "HOME": str(folder)}
    version = output_of(programs / "sluice", "--version", env=environment)
    told = re.match(r"sluice (\S+), commit (?:[0-9a-f]{12}|unknown)\nbuilt with \w+ [\d.]+, LLVM 19\.", version)
    assert told and only("*.whl").name.startswith(f"sluice-{told.group(1)}-"), version
    output = output_of(programs / "sluice", "run", "--device", "cpu", "--", BUILD / "samples/stencil", *STENCIL,
                       env=environment)
    assert output.startswith("PASS "), output
    (folder / "app.py").write_text("import ctypes\n"
                                   "cuda = ctypes.CDLL('libcuda.so.1')\n"
                                   "count = ctypes.c_int()\n"
                                   "print(cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)), count.value)\n")
    output = output_of(programs / "sluice", "run", "--device", "cpu", "--", "python", folder / "app.py",
                       env=environment)
    assert output == "0 0 1\n", output
    return 0


def options_of(*command):
    return re.findall(r"^ +(?:-h,)?(--[a-z-]+)", output_of(BUILD / "bin/sluice", *command, "--help"), re.MULTILINE)


def choices_of(*command):
    """What options take that take one of some words."""
    found = re.findall(r"^ +(--[a-z-]+) \w+:\{([^}]*)\}", output_of(BUILD / "bin/sluice", *command, "--help"), re.MULTILINE)
    return {option: words.split(",") for option, words in found}


def documents_name_every_option(_folder):
    manual = (SOURCE / "cmake/package/sluice.1").read_text().replace("\\-", "-")
    commands = re.findall(r"^  ([a-z]+) ", output_of(BUILD / "bin/sluice", "--help").split("Subcommands:")[1],
                          re.MULTILINE)
    assert "run" in commands, commands
    for command in commands:
        assert f".SS sluice {command}\n" in manual, f"the manual page lacks {command}"
        for option in options_of(command):
            assert re.search(rf"{option}\b", manual), f"the manual page lacks {option} of {command}"

    def completed(*words):
        return output_of("bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; '
                         'printf "%s\\n" "${COMPREPLY[@]}"', SOURCE / "cmake/package/completion.bash",
                         BUILD / "bin/sluice", *words).split()
    assert set(completed("")) == {"--help", "--version", *commands}, completed("")
    assert set(completed("run", "--")) == set(options_of("run")), completed("run", "--")
    assert completed("run", "--device", "c") == ["cpu"]
    assert "threads" in choices_of("check")["--only"], choices_of("check")
    for command in commands:
        for option, words in choices_of(command).items():
            assert completed(command, option, "") == words, (command, option, completed(command, option, ""))
            said = " ".join(re.findall(rf"^\.B.*{option}\b[^\0]*?(?=^\.(?:TP|S[SH])\b)", manual, re.MULTILINE))
            for word in words:
                assert re.search(rf"\b{word}\b", said), f"the manual page lacks {word} of {command} {option}"
    return 0


TESTS = {"DebRunsInABareRoot": deb_runs_in_a_bare_root, "ArchiveRunsInABareRoot": archive_runs_in_a_bare_root,
         "WheelRunsInAnEnvironment": wheel_runs_in_an_environment,
         "DocumentsNameEveryOption": documents_name_every_option}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.exit(TESTS[sys.argv[4]](pathlib.Path(name)))
