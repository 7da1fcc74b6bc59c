// dlopen as a tail jump: a C wrapper would make the shim the caller, and the real dlopen searches
// the caller's RUNPATH.
  .text
  .globl dlopen
  .type dlopen, @function
  .p2align 4
dlopen:
  .cfi_startproc
  endbr64
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call sluice_redirect_library
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  movq %rax, %rdi
  movq sluice_real_dlopen(%rip), %r11
  jmp *%r11
  .cfi_endproc
  .size dlopen, .-dlopen
  .section .note.GNU-stack,"",@progbits
