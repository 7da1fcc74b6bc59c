#!/usr/bin/env python3
"""Writes the jump tables of what is preloaded: the shim's, from the toolkit's own headers, and a CUDA runtime's.

For every driver function that cuda.h and its companions declare, or every function that a library
exports, the assembler file exports a symbol of that name which jumps through a slot. A slot first leads to a stub that asks
sluice_interpose_enter() where to go; the stub keeps every argument register, so no function's
signature is needed. The include file lists the names in the order of the slots.

usage: generate_forwarders.py --compiler CXX --include DIR --assembly OUT.S --names OUT.inc
       generate_forwarders.py --nm NM --library LIBRARY --assembly OUT.S
"""

import argparse
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
from driver_functions import declared_names  # noqa: E402

# Slots without a name, for functions of the driver that no header declares yet.
SPARE_SLOTS = 256

STUBS = """\
  .text
  .p2align 4
# Entered with the slot's index on top of the stack and the caller's arguments in place.
sluice_interpose_stub:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $208, %rsp
  andq $-16, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  movq 8(%rbp), %rdi
  call sluice_interpose_enter
  movq %rax, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 16
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  jmp *%r11
  .cfi_endproc
"""


def table(name, words, section):
    return [f"""\
  .section {section}
  .p2align 3
  .globl {name}
  .hidden {name}
  .type {name}, @object
{name}:
""", *(f"  .quad {word}\n" for word in words), f"  .size {name}, {8 * len(words)}\n"]


def jumps(names, spare=()):
    lines = [STUBS]
    for index, name in enumerate([*names, *spare]):
        scope = ".local" if name in spare else ".globl"
        lines.append(f"""\
  {scope} {name}
  .type {name}, @function
  .p2align 4
{name}:
  .cfi_startproc
  jmp *sluice_interpose_slots+{8 * index}(%rip)
  .cfi_endproc
  .size {name}, .-{name}
sluice_stub_{index}:
  pushq ${index}
  jmp sluice_interpose_stub
""")
    stubs = [f"sluice_stub_{index}" for index in range(len(names) + len(spare))]
    return lines + table("sluice_interpose_slots", stubs, ".data")


def driver_table(names):
    """The jump table of libsluice.so, and the Front that the engine gets (front/engine.hpp)."""
    spare = [f"sluice_spare_{index}" for index in range(SPARE_SLOTS)]
    front = [len(names), len(spare), "sluice_interpose_slots", "sluice_interpose_exports"]
    return [*jumps(names, spare), *table("sluice_interpose_exports", names + spare, '.data.rel.ro,"aw",@progbits'),
            *table("sluice_interpose_front", front, '.data.rel.ro,"aw",@progbits')]


def runtime_table(names):
    """That of a libcudart.so, and the names, one behind the other, which need no relocation."""
    texts = [f'  .asciz "{name}"\n' for name in names]
    return [*jumps(names), "  .section .rodata\n  .globl sluice_interpose_names\n"
            "  .hidden sluice_interpose_names\nsluice_interpose_names:\n", *texts]


def exported_names(nm, library):
    listing = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r" T (\w+)@@", listing)))


def write(path, lines):
    text = "".join([*lines, '  .section .note.GNU-stack,"",@progbits\n'])
    if not path.exists() or path.read_text() != text:  # what did not change is not linked again
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler")
    parser.add_argument("--include", type=pathlib.Path)
    parser.add_argument("--names", type=pathlib.Path)
    parser.add_argument("--nm")
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--assembly", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.library:
        write(arguments.assembly, runtime_table(exported_names(arguments.nm, arguments.library)))
        return
    names = declared_names(arguments.compiler, arguments.include)
    write(arguments.assembly, driver_table(names))
    arguments.names.write_text("".join(f'SLUICE_DRIVER_FUNCTION("{name}")\n' for name in names))


if __name__ == "__main__":
    main()
