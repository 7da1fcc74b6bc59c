"""What the scripts that measure have in common: the machine, tables, charts."""
import json
import os
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    system = re.search(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text())[1]
    return (f"{os.cpu_count()} processors ({processor()}), {memory} GiB, {system}; "
            f"load average {os.getloadavg()[0]:.1f} at the start")


def processor():
    """What the first processor calls itself; virtual machines often hide the name's end."""
    found = dict(re.findall(r"^(.+?)\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0], re.M))
    model = " ".join(f"{key} {found[key]}" for key in ("cpu family", "model") if key in found)
    return ", ".join(filter(None, [found.get("model name", "unknown"), model]))


def table(head, rows):
    return [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]]


def middle(values, form="{:.2f}"):
    """The median of the values and their spread, as two cells."""
    return [form.format(statistics.median(values)),
            f"{form.format(min(values))} to {form.format(max(values))}"]


def google_benchmark(program, repetitions, arguments=()):
    """The runs of a program of Google Benchmark's: lists of what it reports, by benchmark.

    The benchmarks take turns, so that what else the machine does meets all alike.
    """
    output = subprocess.run([program, "--benchmark_format=json",
                             "--benchmark_enable_random_interleaving=true",
                             f"--benchmark_repetitions={repetitions}", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found = {}
    for run in json.loads(output.stdout)["benchmarks"]:
        if run["run_type"] == "iteration":
            found.setdefault(run["run_name"].split("/repeats")[0], []).append(run)
    return found


def plot(file, commands, width=640, height=400):
    """Has gnuplot draw an SVG."""
    subprocess.run(["gnuplot"], text=True, check=True, input=f"""
set terminal svg size {width},{height} font 'sans-serif,12' background 'white' noenhanced
set output '{file}'
set grid
{commands}
""")
