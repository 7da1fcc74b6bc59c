// What kernels read and write, in text for people: `sluice explain`.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::analysis {

// explain() describes one kernel of `module`, or every kernel where `kernel` is empty. Without a
// launch there are no sizes, so each is shown for an example shape, which the text names: for each
// pointer parameter, what a block reads and writes as byte ranges of one block and as a relation
// over all blocks, or which instruction made it unbounded. A kernel that is not understood says
// why. An error where the module holds no kernel of that name. Thread-safe.
Result<std::string> explain(const ptx::Module& module, std::string_view kernel = {});

}  // namespace sluice::analysis
