/* The PTX text of the kernel, NUL-terminated, as the symbol stencil_ptx. */
    .section .rodata
    .global stencil_ptx
    .type stencil_ptx, @object
stencil_ptx:
    .incbin STENCIL_PTX
    .byte 0
    .size stencil_ptx, . - stencil_ptx
    .section .note.GNU-stack, "", @progbits
