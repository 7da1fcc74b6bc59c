// Why an address is not known exactly. Internal to the analysis.
#pragma once

#include <llvm/IR/Value.h>

#include "analysis/kernel/access_form.hpp"

namespace sluice::analysis {

// address_reason() says which value known only to the run makes the address of a touch inexact, or
// bounds the loop in which it moves, or `otherwise` where no such value is found.
WideningReason address_reason(llvm::Value& offset, const AccessForm& form, uint32_t touch,
                              Widening otherwise);

}  // namespace sluice::analysis
