#!/usr/bin/env python3
"""Writes the shim's jump table from the toolkit's own headers.

For every driver function that cuda.h and its companions declare, the assembler file exports a
symbol of that name which jumps through a slot. A slot first leads to a stub that asks
sluice_interpose_enter() where to go; the stub keeps every argument register, so no function's
signature is needed. The include file lists the names in the order of the slots.

usage: generate_forwarders.py --compiler CXX --include DIR --assembly OUT.S --names OUT.inc
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
from driver_functions import declared_names  # noqa: E402

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


def write_assembly(names, path):
    lines = [STUBS]
    for index, name in enumerate(names):
        lines.append(f"""\
  .globl {name}
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
    lines.append("""\
  .data
  .p2align 3
  .globl sluice_interpose_slots
  .hidden sluice_interpose_slots
  .type sluice_interpose_slots, @object
sluice_interpose_slots:
""")
    lines += [f"  .quad sluice_stub_{index}\n" for index in range(len(names))]
    lines.append(f"""\
  .size sluice_interpose_slots, {8 * len(names)}
  .section .data.rel.ro,"aw",@progbits
  .p2align 3
  .globl sluice_interpose_exports
  .hidden sluice_interpose_exports
sluice_interpose_exports:
""")
    lines += [f"  .quad {name}\n" for name in names]
    lines.append(f"""\
  .globl sluice_interpose_front
  .hidden sluice_interpose_front
sluice_interpose_front:
  .quad {len(names)}
  .quad sluice_interpose_slots
  .quad sluice_interpose_exports
""")
    lines.append('  .section .note.GNU-stack,"",@progbits\n')
    path.write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--assembly", required=True, type=pathlib.Path)
    parser.add_argument("--names", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    names = declared_names(arguments.compiler, arguments.include)
    write_assembly(names, arguments.assembly)
    arguments.names.write_text("".join(f'SLUICE_DRIVER_FUNCTION("{name}")\n' for name in names))


if __name__ == "__main__":
    main()
