// A library with such a runtime inside, one function after another; what is unusual about it is
// chosen by a macro. The functions return 1 to 5.
  .macro function name value
  .globl \name
  .type \name, @function
\name:
  movl $\value, %eax
  ret
  .skip 20, 0xcc
  .size \name, .-\name
  .p2align 4
  .endm

  .text
  function cudaHelperOfTheProgram 9
  function __cudaRegisterFatBinary 1

#ifndef FEW
  .globl cudaLarge
  .type cudaLarge, @function
cudaLarge:
  movl $2, %eax
  ret
  .skip 120, 0xcc
  .size cudaLarge, .-cudaLarge
  .p2align 4

  .globl cudaShort
  .type cudaShort, @function
cudaShort:
  xorl %eax, %eax
  ret
  .size cudaShort, .-cudaShort
#ifdef TOO_SHORT
  .type neighbour, @function
neighbour:
  nop
  nop
  movl $7, %eax
  ret
  .size neighbour, .-neighbour
#else
  .p2align 4
#endif

#ifdef RESOLVER
  .globl cudaChosen
  .type cudaChosen, @gnu_indirect_function
cudaChosen:
  leaq chosen(%rip), %rax
  ret
  .size cudaChosen, .-cudaChosen
  .p2align 4
  .type chosen, @function
chosen:
  movl $4, %eax
  ret
  .size chosen, .-chosen
#else
  function cudaChosen 4
#endif
#ifdef LACKING
  function cudaUnknown 8
#endif

#ifdef TWO_NAMES
  .globl cudaOther
  .type cudaOther, @function
cudaOther = cudaLarge
#else
  function cudaOther 5
  .globl ownNameOfCudaOther
  .type ownNameOfCudaOther, @function
ownNameOfCudaOther = cudaOther
#endif
#endif

  .section .note.GNU-stack,"",@progbits
