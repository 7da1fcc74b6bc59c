// Barriers in shared memory, as PTX's mbarrier: what compiled code calls. Their 64 bits are
// described in ptx/mbarrier_call.hpp. All threads of a block run on one thread of the host, so
// nothing here is atomic.
#pragma once

#include <cstdint>

namespace sluice::hostcuda::jit {

extern "C" void sluice_mbarrier_init(uint64_t* barrier, uint32_t count);

// arrive() counts `count` arrivals, of threads that do not come back in later phases where `drops`
// is not 0, and returns what the barrier held before.
extern "C" uint64_t sluice_mbarrier_arrive(uint64_t* barrier, uint32_t count, uint32_t drops);

// test() says whether the phase in which `state` was returned is over, test_parity() whether the
// last phase of that parity is.
extern "C" uint32_t sluice_mbarrier_test(const uint64_t* barrier, uint64_t state);
extern "C" uint32_t sluice_mbarrier_test_parity(const uint64_t* barrier, uint32_t parity);

}  // namespace sluice::hostcuda::jit
