#include "hostcuda/jit/library/memory_barrier.hpp"

#include "ptx/mbarrier_call.hpp"

namespace sluice::hostcuda::jit {
namespace {

using namespace ptx::mbarrier_call;

uint64_t pack(uint64_t missing, uint64_t expected, uint64_t phase) {
  return (missing & count_mask) | (expected & count_mask) << expected_shift | phase << phase_shift;
}

}  // namespace

extern "C" void sluice_mbarrier_init(uint64_t* barrier, uint32_t count) {
  *barrier = pack(count, count, 0);
}

extern "C" uint64_t sluice_mbarrier_arrive(uint64_t* barrier, uint32_t count, uint32_t drops) {
  const uint64_t before = *barrier;
  uint64_t expected = before >> expected_shift & count_mask;
  uint64_t phase = before >> phase_shift;
  uint64_t missing = ((before & count_mask) - count) & count_mask;
  if (drops != 0) expected -= count;
  if (missing == 0) {
    missing = expected;
    ++phase;
  }
  *barrier = pack(missing, expected, phase);
  return before;
}

extern "C" uint32_t sluice_mbarrier_test(const uint64_t* barrier, uint64_t state) {
  return *barrier >> phase_shift != state >> phase_shift;
}

extern "C" uint32_t sluice_mbarrier_test_parity(const uint64_t* barrier, uint32_t parity) {
  return (*barrier >> phase_shift & 1) != (parity & 1);
}

}  // namespace sluice::hostcuda::jit
