"""Runs one program of the list once, in a copy of its folder, and says what came out."""
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

OVER = "over the limit"
# glibc fills what is allocated and freed: programs that print what they never wrote print the same.
FILLED = {"MALLOC_PERTURB_": "165"}
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODES = {"plain": ["--off"], "sluice": [], "megakernel": ["--megakernel", "wait"],
         "check": ["--check-footprints", "--check-blocks", "16"], "costs": []}
# Everything is found, from nothing, and what that took is told.
SETTINGS = {"costs": {"SLUICE_LOG": "debug", "SLUICE_ANALYSIS": "wait", "SLUICE_ANALYSIS_CACHE": "off",
                      "SLUICE_GOVERNOR": "off"}}
# What Sluice says of itself on stderr, and what a launcher without a terminal adds.
OWN_LINES = re.compile(r"^sluice(:| )")
SUMMARY = re.compile(r"(\d+) launch(?:es)?: (\d+) as tasks, (\d+) passed through(?: \((.*?)\))?(?:, (\d+) plainly)?;")
# What a process with SLUICE_LOG=debug says at its end: of a launch, of a footprint read, given up, of an analysis.
COSTS = re.compile(r"dependences took at most (\d+) steps and (\d+) bytes a launch, (\d+) and (\d+) a footprint; "
                   r"(\d+) launches were given up|an analysis took at most (\d+) steps and (\d+) bytes")
# What the CPU device says of a kernel's first launch of a block size, with SLUICE_LOG=debug.
READY = re.compile(r"kernel \S+: code for blocks of .* ready after ([\d.]+) ms")


@dataclasses.dataclass
class Run:
    status: object  # the exit status, or OVER
    files: dict  # what it wrote: name -> bytes; "output" is both streams, without what Sluice says
    seconds: float
    processor: float  # seconds of processors' time
    memory: float  # MiB, the largest resident set
    launches: int = 0
    tasks: int = 0
    reason: str = ""
    costs: tuple = ()  # the dearest of all processes: as COSTS, where it was told
    said: str = ""  # the end of stderr
    code: tuple = ()  # milliseconds that it waited for each kernel's code, where SLUICE_LOG=debug told


def changed_files(folder, before):
    files = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.is_symlink():
            continue
        name = str(file.relative_to(folder))
        content = file.read_bytes()
        if before.get(name) != content_key(file):
            files[name] = content
    return files


def lines_of(content, program):
    """The lines of what a program wrote, masked; those that are no text as one digest."""
    try:
        return program.masked(content.decode())
    except UnicodeDecodeError:
        return [hashlib.sha256(content).hexdigest()]


def content_key(file):
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def summary(said):
    """Launches, tasks and the main reason for passing through, of all processes of the run."""
    launches = tasks = 0
    reason = ""
    most = -1
    for found in SUMMARY.finditer(said):
        launches += int(found[1])
        tasks += int(found[2])
        if found[4] and int(found[3]) > most:
            most, reason = int(found[3]), re.sub(r"^\d+ of them: ", "", found[4])
    return launches, tasks, reason


def costs(said):
    """What COSTS finds, the largest of each; nothing where nobody told."""
    found = [[int(number or 0) for number in line.groups()] for line in COSTS.finditer(said)]
    return tuple(map(max, zip(*found)))


def run(program, options, mode, caches, arguments, settings=()):
    """One run; caches is the folder of both caches, filled or empty as the caller wants."""
    with tempfile.TemporaryDirectory(prefix="suites-", dir=options.scratch) as scratch:
        folder = pathlib.Path(scratch) / "run"
        source = program.folder(options.programs)
        if source is None:
            folder.mkdir()
        else:
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".*"))
        before = {str(file.relative_to(folder)): content_key(file)
                  for file in folder.rglob("*") if file.is_file()}
        environment = {**os.environ, "SLUICE_SUMMARY": "1", "SLUICE_CODE_CACHE": str(caches / "code"),
                       "SLUICE_ANALYSIS_CACHE": str(caches / "analysis"), "HOME": scratch,
                       **dict(settings), **SETTINGS.get(mode, {})}
        command = [str(options.build / "bin/sluice"), "run", "--device", "cpu", *MODES[mode], "--",
                   *program.command(options.build, arguments)]
        with open(f"{scratch}/out", "w+b") as out, open(f"{scratch}/err", "w+b") as err:
            start = time.monotonic()
            child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=err, start_new_session=True)
            status, usage = wait(child, options.limit)
            seconds = time.monotonic() - start
            out.seek(0)
            err.seek(0)
            text, said = (stream.read().decode(errors="replace") for stream in (out, err))
        text, said = (each.replace(str(folder), "RUN") for each in (text, said))
        own = [line for line in said.splitlines() if OWN_LINES.match(line)]
        rest = "\n".join(line for line in said.splitlines() if not OWN_LINES.match(line))
        files = {"output": f"{text}\n{rest}".encode(), **changed_files(folder, before)}
        return Run(status, files, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                   *summary("\n".join(own)), costs(said), said[-2000:],
                   tuple(map(float, READY.findall(said))))


def wait(child, limit):
    """Waits for the child; past the limit its whole session is ended."""
    end = time.monotonic() + limit
    pause = 0.001
    while True:
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
        if ended:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        if time.monotonic() > end:
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = -signal.SIGKILL
            return OVER, usage
        time.sleep(pause)
        pause = min(pause * 1.2, 0.01)
