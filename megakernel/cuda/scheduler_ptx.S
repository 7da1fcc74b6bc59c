/* The scheduler kernel's PTX text, NUL-terminated. */
    .section .rodata
    .global sluice_scheduler_ptx
    .hidden sluice_scheduler_ptx
    .type sluice_scheduler_ptx, @object
sluice_scheduler_ptx:
    .incbin SLUICE_SCHEDULER_PTX
    .byte 0
    .size sluice_scheduler_ptx, . - sluice_scheduler_ptx
    .section .note.GNU-stack, "", @progbits
