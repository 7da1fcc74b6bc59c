// Arithmetic on bytes and halves of a register, as the SIMD-in-a-word intrinsics and video filters
// use it.
extern "C" __global__ void video(const unsigned* a, const unsigned* b, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a[i]), "r"(b[i]), "r"(sum));
  unsigned halves = 0;
  asm("vadd2.u32.u32.u32.sat %0, %1, %2, %3;" : "=r"(halves) : "r"(a[i]), "r"(b[i]), "r"(0));
  int chosen = 0;
  asm("vsub.s32.s32.s32.sat %0.b1, %1.b2, %2.h1, %3;" : "=r"(chosen) : "r"(a[i]), "r"(b[i]), "r"(7));
  int scaled = 0;
  asm("vmad.s32.s32.s32.shr7 %0, %1.h0, %2.h1, %3;" : "=r"(scaled) : "r"(a[i]), "r"(b[i]), "r"(64));
  out[i] = sum + halves + chosen + scaled + __vavgu4(a[i], b[i]) + __vmaxs2(a[i], b[i]);
}
