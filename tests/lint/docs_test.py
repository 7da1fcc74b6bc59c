#!/usr/bin/env python3
"""The docs against the tree: what they name is there, and walks take as many files as they say.

usage: docs_test.py SOURCE_FOLDER
"""

import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path()

# Pages about the tree's parts. Others show output, and names of things that are not ours.
OF_THE_TREE = ["CONTRIBUTING.md", "docs/design.md", "docs/analysis.md", "docs/dro.md", "docs/schedule.md",
               "docs/hostcuda.md", "docs/megakernel.md"]

MOST_LINES = 300  # of docs/design.md
MOST_COLUMNS = 110

PATH = re.compile(r"[\w.]+(/[\w.]+)*/?\.(cpp|hpp|h|def|py|md|cu|cuh|S|html|txt)|[\w.]+/([\w.]+/)*")
CLASS = re.compile(r"[A-Z][a-z0-9]+([A-Z][a-z0-9]*)*")
SOURCES = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".def")

# Functions of the driver that other files name too, since they call them.
CALLED_BY_THE_DEVICE = {"cuCtxDestroy_v2", "cuCtxGetCurrent", "cuMemcpy2D_v2", "cuMemcpy2DAsync_v2",
                        "cuStreamSynchronize"}
CALLED_BY_THE_SHIM = {"cuInit", "cuMemcpy", "cuLaunchHostFunc", "cuLaunchKernel", "cuModuleUnload",
                      "cuMemcpyAsync", "cuMemcpy2DAsync_v2", "cuMemsetD8Async", "cuMemsetD16Async",
                      "cuMemsetD32Async", "cuMemsetD2D8Async", "cuMemsetD2D16Async", "cuMemsetD2D32Async",
                      "cuLibraryGetGlobal", "cuModuleGetGlobal_v2"}

# Where constants are tuned, and those there that are not: codes, sentinels, and what others fix.
TUNED = ("runtime/", "schedule/", "megakernel/host/")
NOT_TUNED = {"address_base", "alignment", "around", "before_address", "between", "forever", "index_names", "launch_failed", "no_patience", "no_ticket", "out_of_memory",
             "page_bytes", "page_shift", "slow_analysis", "unbounded", "unknown", "why", "why_alone", "why_plain", "why_late", "being_analysed", "being_followed", "being_read", "is_too_early", "is_too_long", "name_of_unfinished", "whole_launch",
             "word_bits"}


# A loop, or a call that is one.
LOOP = re.compile(r"^\s*(?:\}\s*)?(?:for|while|do)\b\s*[({]|\bforeach_|std::(?:ranges::)?(?:erase|erase_if|sort|"
                  r"stable_sort|transform|copy|equal|for_each|find|find_if|unique|merge|all_of|any_of|none_of|"
                  r"accumulate|count|count_if)\(", re.M)


def text_of(name):
    return (SOURCE / name).read_text()


def quoted(page):
    """What stands between backquotes, code blocks apart."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))


def code_of(name):
    return re.sub(r"//.*", "", text_of(name))


def definitions(code):
    """Functions and classes of a file: what begins and ends at the margin, in a namespace or not."""
    found = [[]]
    for line in code.splitlines():
        if not line.startswith(("#", "namespace")):
            found[-1].append(line)
        if line.startswith("}") or (line.rstrip().endswith(";") and not line[0].isspace()):
            found.append([])
    return ["\n".join(lines) for lines in found]


class Docs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                                check=True, capture_output=True, text=True).stdout.splitlines()
        cls.files = [name for name in listed if (SOURCE / name).is_file()]
        folders = {str(parent) for name in cls.files for parent in pathlib.PurePath(name).parents}
        cls.places = {f"/{name}" for name in cls.files} | {f"/{folder}/" for folder in folders}
        cls.pages = [name for name in cls.files if re.fullmatch(r"README\.md|CONTRIBUTING\.md|docs/\w[\w-]*\.md", name)]
        cls.sources = {name: code_of(name) for name in cls.files
                       if name.endswith(SOURCES) and not name.startswith("tests/")}
        cls.words = {name: set(re.findall(r"\w+", code)) for name, code in cls.sources.items()}

    def files_with(self, word, folder):
        return sorted(name for name, words in self.words.items() if name.startswith(folder) and word in words)

    def test_the_design_is_short(self):
        page = text_of("docs/design.md")
        self.assertLessEqual(page.count("\n"), MOST_LINES)
        for line in page.splitlines():
            self.assertLessEqual(len(line), MOST_COLUMNS, line)
        self.assertEqual(page.count("\n```"), 2, "one picture")

    def test_files_and_folders_are_there(self):
        for name in OF_THE_TREE:
            for word in quoted(text_of(name)):
                if not PATH.fullmatch(word):
                    continue
                self.assertTrue(any(place.endswith(f"/{word}") for place in self.places), f"{name}: {word}")

    def test_classes_are_there(self):
        declared = set()
        for code in self.sources.values():
            declared |= set(re.findall(r"\b(?:class|struct|enum class|using)\s+(?:alignas\(\w+\)\s+)?(\w+)", code))
        page = text_of("docs/design.md")
        picture = re.search(r"^```(.*?)^```", page, re.M | re.S)[1]
        named = [word for word in quoted(page) + re.findall(r"\w+", picture)
                 if CLASS.fullmatch(word) and re.search(r"[a-z][A-Z]", word)]
        self.assertGreater(len(named), 40)
        self.assertEqual([word for word in named if word not in declared], [])

    def test_links_lead_somewhere(self):
        for name in self.pages:
            for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text_of(name)):
                target = (SOURCE / name).parent / link
                self.assertTrue(target.exists(), f"{name}: {link}")

    def test_anchors_are_headings(self):
        for name in self.pages:
            for file, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)]+)\)", text_of(name)):
                page = ((SOURCE / name).parent / file if file else SOURCE / name).read_text()
                headings = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                            for heading in re.findall(r"^#+ (.*)$", page, re.M)]
                self.assertIn(anchor, headings, f"{name}: {file}#{anchor}")

    def test_dro_is_spelled_out_first(self):
        for name in self.pages:
            page = text_of(name)
            first = re.search(r"\bDROs?\b", page)
            if first:
                around = " ".join(page[max(0, first.start() - 60):first.end() + 60].split())
                self.assertRegex(around, r"dependency-resolution object", name)

    def test_walks_take_as_many_files_as_the_table_says(self):
        page = text_of("CONTRIBUTING.md")
        rows = re.findall(r"^\| \[(.+?)\]\(#.*?\) \| (\d) \|$", page, re.M)
        self.assertGreaterEqual(len(rows), 7)
        for walk, count in rows:
            section = re.search(rf"^## {re.escape(walk)}\n(.*?)(?=^## |\Z)", page, re.M | re.S | re.I)
            self.assertIsNotNone(section, walk)
            steps = re.findall(r"^\d\. ", section[1], re.M)
            self.assertEqual(len(steps), int(count), walk)

    def test_a_driver_function_takes_three_files(self):
        names = set(re.findall(r"\bSLUICE_EXPORT\(\w+, \d+, (\w+)\)", text_of("hostcuda/driver/api/exports.def")))
        self.assertGreater(len(names), 300)
        for name in sorted(names - CALLED_BY_THE_DEVICE):
            self.assertLessEqual(len(self.files_with(name, "hostcuda/driver/")), 3, name)

    def test_a_wrapper_takes_two_files(self):
        names = set(re.findall(r"^SLUICE_WRAPPED(?:_STREAM)?\((\w+)\)", text_of("interpose/symbols/wrapped.def"), re.M))
        names = {name for name in names if not name.startswith("cuGetProcAddress")}
        self.assertGreater(len(names), 50)
        for name in sorted(names - CALLED_BY_THE_SHIM):
            self.assertLessEqual(len(self.files_with(name, "interpose/")), 2, name)

    def test_constants_are_listed_as_they_are(self):
        listed = set()
        for file, table in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", text_of("docs/constants.md"), re.M | re.S):
            for name, value in re.findall(r"^\| `(\w+)` \| `([^`]+)` \|", table, re.M):
                written = rf"\b{name}\b(\s*=\s*|\{{)(std::chrono::\w+\()?{re.escape(value)}\W"
                self.assertTrue(re.search(written, text_of(file)), f"{file}: {name} is not {value}")
                listed.add((file, name))
        constant = re.compile(r"\bconstexpr\s+[\w:<>\s*]*?\b(\w+)\s*(?:=|\{\s*\d)")
        for file, code in self.sources.items():
            for name in constant.findall(code) if file.startswith(TUNED) else []:
                self.assertTrue(name in NOT_TUNED or (file, name) in listed, f"{file}: {name} has no row")

    def test_what_grows_has_a_bound(self):
        grows, bounded = text_of("docs/growth.md").split("\n## Bounded otherwise\n")
        named = set(re.findall(r"^\| ([^|`]+) \| `", grows, re.M))
        made = set()
        for test in ("tests/dro/growth_test.cpp", "tests/analysis/growth_test.cpp"):
            made |= set(re.findall(r'^    \{"([^"]+)", "', text_of(test), re.M))
        self.assertEqual(named, made)
        rows = set(re.findall(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", bounded, re.M))
        used = set()
        for file, code in self.sources.items():
            if not file.startswith(("dro/", "relation/", "analysis/")):
                continue
            if not any(LOOP.search(each) and "udget" not in each for each in definitions(code)):
                continue
            row = [row for row in rows if file == row or row.endswith("/") and file.startswith(row)]
            self.assertTrue(row, f"docs/growth.md says nothing of the loops of {file}")
            used.update(row)
        self.assertEqual(rows - used, set(), "no such loops any more")

    def test_what_strangers_found_has_its_tests(self):
        test = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)
        made = {".".join(names) for file in self.files if file.startswith("tests/") and file.endswith(".cpp")
                for names in test.findall(text_of(file))}
        named = {word for word in quoted(text_of("docs/strangers.md"))
                 if re.fullmatch(r"[A-Z]\w+\.[A-Z]\w+", word)}
        self.assertGreater(len(named), 50)
        self.assertEqual(named - made, set())

    def test_an_edge_form_is_declared_in_three_files(self):
        variant = re.search(r"using EdgeForm = std::variant<([^>]+)>", text_of("dro/edges/edge_table.hpp"))
        for form in re.findall(r"\w+", variant[1]):
            own = re.sub(r"(?<!^)([A-Z])", r"_\1", form).lower()
            for file in (f"dro/edges/{own}.hpp", "dro/edges/edge_table.hpp", "megakernel/cuda/tables/device_edges.h"):
                self.assertIn(file, self.files_with(form, ""), form)

    def test_a_journal_record_is_declared_in_two_files(self):
        variant = re.search(r"using Record =\s+std::variant<([^;]+)>;", text_of("dro/records/record.hpp"))
        for record in re.findall(r"\w+", variant[1]):
            declaring = [name for name, code in self.sources.items()
                         if name.startswith("dro/") and re.search(rf"\b(struct {record}\b|variant<[^;]*\b{record}\b)", code)]
            self.assertLessEqual(len(declaring), 2, f"{record}: {declaring}")


if __name__ == "__main__":
    SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
