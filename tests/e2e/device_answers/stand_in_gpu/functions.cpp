// Every function of the driver leads to the CPU device's, but for those that another file defines.
// The table is an array of Function.
// clang-format off
#define SLUICE_DRIVER_FUNCTION(name) \
  asm(".pushsection .text\n" \
      ".weak " name "\n" \
      ".type " name ", @function\n" \
      name ": jmp *" name "_below(%rip)\n" \
      ".popsection\n" \
      ".pushsection stand_in_functions, \"aw\"\n" \
      ".quad " name "_text\n" \
      name "_below: .quad 0\n" \
      ".popsection\n" \
      ".pushsection .rodata\n" \
      name "_text: .asciz \"" name "\"\n" \
      ".popsection\n");
// clang-format on
#include "driver_functions.inc"
#undef SLUICE_DRIVER_FUNCTION
