// What starts keep of a kernel for later ones: how long analyses and searches took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dim3.hpp"
#include "runtime/code/kernel.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

// size_of() is the policy's of a launch, with what earlier starts have kept of its account: the
// first time it reads a file. Not thread-safe.
Policy::Mark::Size& size_of(Kernel& kernel, const Dim3& grid, const Dim3& block);

// KeptFigures is what is kept of an account, under the name by which the model keeps it.
struct KeptFigures {
  std::string name;
  std::vector<uint64_t> figures;
};
KeptFigures figures_of(const Policy::Mark::Size& size);

// unfinished_analysis() is how many nanoseconds earlier starts have analysed the kernel without an
// end; 0 where one has come to an end since, which keep_finished() says on the thread of the
// analysis. keep_unfinished() adds this start's, when it ends; `spent` is what the background has
// spent by now. What is kept is read at most once.
int64_t unfinished_analysis(Kernel& kernel);
void keep_finished(Kernel& kernel);
void keep_unfinished(Kernel& kernel, int64_t spent);

// keep_in_vain() keeps, when a start ends, what the kernel's new launches have cost for nothing.
void keep_in_vain(Kernel& kernel, const Policy& policy);

}  // namespace sluice::runtime
