// How lifted code asks for barriers in memory (mbarrier): PTX leaves open what the 64 bits of one
// hold. Addresses are generic ones; each is a place in the block's shared memory.
//   void sluice.mbarrier.init(i64 address, i32 count)
//   i64 sluice.mbarrier.arrive(i64 address, i32 count, i32 drops)   the state before
//   i32 sluice.mbarrier.test(i64 address, i64 state)                whether its phase is over
//   i32 sluice.mbarrier.test_parity(i64 address, i32 parity)
// A thread that tests may be one that waits, so void sluice.yield() comes before each test: there
// the other threads of the block get their turn.
#pragma once

#include <cstdint>

namespace sluice::ptx::mbarrier_call {

inline constexpr const char* init = "sluice.mbarrier.init";
inline constexpr const char* arrive = "sluice.mbarrier.arrive";
inline constexpr const char* test = "sluice.mbarrier.test";
inline constexpr const char* test_parity = "sluice.mbarrier.test_parity";
inline constexpr const char* yield = "sluice.yield";

// A barrier, and a state: the arrivals that are missing in this phase, those that each phase
// expects, and the number of phases that are over.
inline constexpr unsigned count_bits = 20;
inline constexpr uint64_t count_mask = (1U << count_bits) - 1;
inline constexpr unsigned expected_shift = count_bits;
inline constexpr unsigned phase_shift = 2 * count_bits;

}  // namespace sluice::ptx::mbarrier_call

// Metadata of lifted code that tells of cp.async: of the copy's stores to shared memory; of calls
// of llvm.donothing where a thread commits its copies to a group and where it waits for all groups
// but the number that the metadata holds.
namespace sluice::ptx::async_copy {

inline constexpr const char* store = "sluice.async.store";
inline constexpr const char* commit = "sluice.async.commit";
inline constexpr const char* wait = "sluice.async.wait";

}  // namespace sluice::ptx::async_copy
