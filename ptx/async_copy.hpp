// Metadata of lifted code that tells of cp.async.
#pragma once

namespace sluice::ptx::async_copy {

// Of the copy's stores to shared memory; of calls of llvm.donothing where a thread commits its
// copies to a group and where it waits for all groups but the number that the metadata holds.
inline constexpr const char* store = "sluice.async.store";
inline constexpr const char* commit = "sluice.async.commit";
inline constexpr const char* wait = "sluice.async.wait";

}  // namespace sluice::ptx::async_copy
