#include "runtime/code/ptx_code.hpp"

#include <algorithm>

#include "base/digest.hpp"
#include "ptx/link.hpp"

namespace sluice::runtime {

const std::string& PtxCode::digest() {
  const std::lock_guard lock(mutex_);
  if (digest_.empty()) {
    std::string digests;
    for (const std::string& unit : units_)
      digests += sluice::digest(unit);
    digest_ = units_.size() == 1 ? digests : sluice::digest(digests);
  }
  return digest_;
}

Result<const ptx::Module*> PtxCode::module_with(std::string_view kernel) {
  const std::lock_guard lock(mutex_);
  // A look at the text spares parsing a large image that lacks the name.
  const bool may_hold = std::ranges::any_of(
      units_, [&](const std::string& unit) { return unit.find(kernel) != std::string::npos; });
  if (may_hold && !module_) module_ = ptx::link_texts(units_);
  if (may_hold && !*module_) return tl::unexpected<Error>(module_->error());
  const ptx::Function* function = may_hold ? (*module_)->find_function(kernel) : nullptr;
  const bool is_kernel = function != nullptr && function->is_entry && function->is_definition;
  if (!is_kernel) return unsupported("its PTX holds no kernel of that name");
  return &**module_;
}

}  // namespace sluice::runtime
