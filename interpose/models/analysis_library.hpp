// The analysis, which brings LLVM, is a library of its own, libsluice-analysis.so: a process opens
// it for its first kernel that is not found on disk.
#pragma once

#include <string>

#include "base/assert.hpp"
#include "runtime/code/kernel_model.hpp"

namespace sluice::interpose {

// late_model_maker() makes models by that library, which lies in `folder`. Where it cannot be
// opened each model is an error, with the reason. `opens_now`: not at the first model, for who
// makes models under a lock that a library's constructor may wait for.
runtime::ModelMaker late_model_maker(const std::string& folder, bool opens_now);

// analysis_identity() changes with every build of it.
std::string analysis_identity(const std::string& folder);

}  // namespace sluice::interpose

// sluice_model_maker() is what the library exports. `handler` hears of its failed assertions. What
// it returns stays. Thread-safe.
extern "C" __attribute__((visibility("default"))) const sluice::runtime::ModelMaker*
sluice_model_maker(sluice::AssertionHandler handler);
