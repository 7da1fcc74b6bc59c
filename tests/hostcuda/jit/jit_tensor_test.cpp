// What nvcc makes of wmma and of mma with ldmatrix and asynchronous copies, against plain loops.
#include <bit>
#include <random>
#include <string>

#include "hostcuda/jit/run_kernel.hpp"
#include "hostcuda/jit/warps/warp_registers.hpp"

namespace sluice::hostcuda {
namespace {

// Packed is a matrix in memory: elements one after the other, from the lowest bit of each byte up.
class Packed {
 public:
  Packed(const char* type, size_t elements)
      : type_(type), bytes_((elements * type_.bits() + 7) / 8 + 64) {}

  double get(size_t index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + index * type_.bits() / 8, (type_.bits() + 7) / 8);
    bits >>= index * type_.bits() % 8;
    return type_.decode(type_.bits() == 64 ? bits : bits & ((uint64_t{1} << type_.bits()) - 1));
  }
  void fill(unsigned seed, size_t elements) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < elements; ++i) {
      const uint64_t bits = type_.encode(type_.random(random)) << i * type_.bits() % 8;
      for (size_t byte = 0; byte < (type_.bits() + 7) / 8; ++byte)
        bytes_[i * type_.bits() / 8 + byte] |= static_cast<uint8_t>(bits >> 8 * byte);
    }
  }
  uint8_t* data() { return bytes_.data(); }

 private:
  ElementType type_;
  std::vector<uint8_t> bytes_;
};

struct WmmaCase {
  const char* kernel;
  const char* type;
  const char* sum;
  unsigned m, n, k;
  bool b_by_rows = false;
};

constexpr WmmaCase wmma_cases[] = {
    {"wmma_half", "f16", "f32", 16, 16, 16},         {"wmma_half_narrow", "f16", "f16", 32, 8, 16},
    {"wmma_bfloat", "bf16", "f32", 8, 32, 16},       {"wmma_tf32", "tf32", "f32", 16, 16, 8},
    {"wmma_double", "f64", "f64", 8, 8, 4},          {"wmma_bytes", "s8", "s32", 16, 16, 16},
    {"wmma_unsigned_bytes", "u8", "s32", 32, 8, 16}, {"wmma_nibbles", "s4", "s32", 8, 8, 32},
    {"mma_pipeline", "f16", "f32", 16, 8, 16, true},
};

TEST(JitTensor, MultipliesMatricesAsNvccWritesIt) {
  Kernels kernels("tensor_cores");
  for (const WmmaCase& the_case : wmma_cases) {
    Packed a(the_case.type, the_case.m * the_case.k);
    Packed b(the_case.type, the_case.n * the_case.k);
    Packed c(the_case.sum, the_case.m * the_case.n);
    a.fill(1, the_case.m * the_case.k);
    b.fill(2, the_case.n * the_case.k);
    // The kernel of mma itself starts at zero.
    if (!the_case.b_by_rows) c.fill(3, the_case.m * the_case.n);
    const Packed before = c;
    kernels.run(the_case.kernel, {1}, {32}, 0, a.data(), b.data(), c.data());
    for (unsigned row = 0; row < the_case.m; ++row) {
      for (unsigned column = 0; column < the_case.n; ++column) {
        double expected = before.get(row * the_case.n + column);
        for (unsigned k = 0; k < the_case.k; ++k) {
          const size_t in_b =
              the_case.b_by_rows ? k * the_case.n + column : column * the_case.k + k;
          expected += a.get(row * the_case.k + k) * b.get(in_b);
        }
        ASSERT_EQ(c.get(row * the_case.n + column), expected)
            << the_case.kernel << " row " << row << " column " << column;
      }
    }
  }
}

}  // namespace
}  // namespace sluice::hostcuda
