// Every function of the driver that the other file does not define returns CUDA_SUCCESS.
// clang-format off
#define SLUICE_DRIVER_FUNCTION(name) \
  asm(".pushsection .text\n" \
      ".weak " name "\n" \
      ".type " name ", @function\n" \
      name ": xorl %eax, %eax\n" \
      "ret\n" \
      ".popsection\n");
// clang-format on
#include "driver_functions.inc"
#undef SLUICE_DRIVER_FUNCTION
