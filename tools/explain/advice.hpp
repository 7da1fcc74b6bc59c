// What a CUDA programmer can change so that an access becomes exact.
#pragma once

#include <string>

#include "analysis/widening.hpp"

namespace sluice::tools {

// advice_for() says what to change, in one or two sentences; empty where there is nothing to say.
// `writes` tells a write from a read. Of the reason's operands only bounds_a_loop matters.
std::string advice_for(const analysis::WideningReason& reason, bool writes);

}  // namespace sluice::tools
