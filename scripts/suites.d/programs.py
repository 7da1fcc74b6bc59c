"""The list of programs (programs.txt): what they are called with, which are unseen, what of their output is time."""
import dataclasses
import hashlib
import pathlib
import re
import shlex

HERE = pathlib.Path(__file__).resolve().parent
OWN = ("samples", "programs")  # suites whose programs our own build makes

# On lines that speak of time or rates, numbers may differ from run to run.
TIMES = re.compile(r"time|second|\bsecs?\b|\b[munµ]?s\b|[munµ]sec|b/s|flops?|throughput|bandwidth|speed|perf|"
                   r"elapsed|took|average|latency|\brate|/s\b|cycles|clock|kernels? exec|duration", re.I)
# Not the digits of names and of hexadecimal words, nor what is called a checksum.
NUMBERS = re.compile(r"(?<![\w.])(?<!checksum=)[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
                     r"(?=[munµ]?s(ec)?\b|[KMGT]?i?[Bb]|[KMGT]?[Ff]|[xX%]|[^\w.]|\.?$|\.\s)|\binf\b|-?\bnan\b")
ADDRESSES = re.compile(r"0x[0-9a-fA-F]{6,}")


@dataclasses.dataclass
class Program:
    suite: str
    name: str
    arguments: list
    timed: list  # the arguments of scripts/bench-suites, None: not timed
    note: str
    mask: object  # finds lines that are not compared, or None
    reason: str = ""  # why it can't be run

    @property
    def key(self):
        return f"{self.suite}/{self.name}"

    @property
    def unseen(self):
        return hashlib.sha256(self.key.encode()).hexdigest()[0] in "01234"

    def folder(self, programs):
        return None if self.suite in OWN else programs / self.suite / self.name

    def command(self, build, arguments):
        if self.suite in OWN:
            return [str(build / arguments[0]), *arguments[1:]]
        return ["./program", *arguments]

    def masked(self, text):
        lines = []
        headed = False  # "Time in seconds:", and the number on the next line
        for line in text.splitlines():
            line = "#" if self.mask and self.mask.search(line) else ADDRESSES.sub("#", line)
            of_time = TIMES.search(line)
            headed, hidden = of_time and line.rstrip().endswith(":"), of_time or headed
            if hidden:
                line = NUMBERS.sub("#", line).strip()
                line = re.sub(r"\s+", " ", line)
            lines.append(line)
        return lines


def load(file=HERE / "programs.txt"):
    """Every program of the list, those that can't be run with their reason."""
    found = []
    for line in file.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        left_out = cells[0].startswith("!")
        suite, name = cells[0].lstrip("!").strip().split("/", 1)
        cells += [""] * (5 - len(cells))
        if left_out:
            found.append(Program(suite, name, [], None, "", None, cells[1]))
            continue
        arguments = shlex.split(cells[1])
        timed = arguments if not cells[2] else None if cells[2] == "-" else shlex.split(cells[2])
        found.append(Program(suite, name, arguments, timed, cells[3],
                             re.compile(cells[4]) if cells[4] else None))
    return found


def chosen(options):
    """The programs that a command's options ask for; the unseen third only with --unseen."""
    return [program for program in load()
            if program.unseen == options.unseen
            and (not options.only or any(program.key.startswith(only) for only in options.only))]
