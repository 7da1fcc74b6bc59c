// Lifted kernels run as one thread on the host, for tests of what instructions compute.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace sluice::ptx::test {

// optimise() runs LLVM's O2 pipeline and expects a module that verifies afterwards.
void optimise(llvm::Module& module);

// HostKernel is a kernel with one parameter, `.param .u64 memory`, lifted and compiled twice: as
// lifted and through LLVM's O2, so that undefined behaviour in the lifted code has a chance to
// show. Special registers read as their constants below. A test fails where it cannot be made.
class HostKernel {
 public:
  // `ptx` is a whole translation unit.
  HostKernel(const std::string& ptx, std::string_view kernel);
  ~HostKernel();
  HostKernel(HostKernel&&) noexcept;

  bool usable() const { return plain_ != nullptr && optimised_ != nullptr; }

  // run() calls both forms, each on its own copy of `memory`, expects that they leave the same
  // bytes and puts those into `memory`.
  void run(std::vector<uint64_t>& memory) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  void (*plain_)(uint64_t) = nullptr;
  void (*optimised_)(uint64_t) = nullptr;
};

inline constexpr uint32_t host_thread_x = 3;
inline constexpr uint32_t host_block_x = 5;
inline constexpr uint32_t host_block_size_x = 32;

// unit() is a translation unit of the given items.
std::string unit(const std::string& items);

// Operation is a few instructions over the sources a, b and c. Each source is there in every
// width: registers %h0..%h2 (16 bits), %r0..%r2, %rd0..%rd2, %f0..%f2, %fd0..%fd2 and predicates
// %p0..%p2 (whether the source is not zero). `result` names the register that holds the result:
// one of %h9, %r9, %rd9, %f9, %fd9 or %p9; its bits come back zero-extended.
class Operation {
 public:
  Operation(const std::string& instructions, const std::string& result);

  uint64_t operator()(uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) const;

 private:
  HostKernel kernel_;
};

inline uint64_t bits(float value) {
  return std::bit_cast<uint32_t>(value);
}
inline uint64_t bits(double value) {
  return std::bit_cast<uint64_t>(value);
}
inline float as_float(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}
inline double as_double(uint64_t bits) {
  return std::bit_cast<double>(bits);
}

// Values at which integer instructions are easily wrong, truncated to the width by the caller.
const std::vector<uint64_t>& integer_edges();
// Values at which floating point instructions are easily wrong.
const std::vector<float>& float_edges();
const std::vector<double>& double_edges();

}  // namespace sluice::ptx::test
