// Why an address is not known exactly, in words. Internal to the analysis.
#pragma once

#include <string>

#include <llvm/IR/Value.h>

#include "analysis/kernel/access_form.hpp"

namespace sluice::analysis {

// address_reason() says which value known only to the run makes the address of a touch inexact, or
// bounds the loop in which it moves, with PTX lines; or `otherwise` ("may wrap around in 32 bits"),
// said of the address, where no such value is found. The texts are read again by
// tools/explain/advice.cpp, since a journal keeps nothing else of a reason.
std::string address_reason(llvm::Value& offset, const AccessForm& form, uint32_t touch,
                           const std::string& otherwise);

}  // namespace sluice::analysis
