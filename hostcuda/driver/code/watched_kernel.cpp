#include "hostcuda/driver/code/watched_kernel.hpp"

#include <variant>

namespace sluice::hostcuda {

std::vector<ModuleVariableAt> variables_of(const WatchedKernel& kernel) {
  std::vector<ModuleVariableAt> all;
  for (const ptx::ModuleItem& item : kernel.kernel.module().items) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable == nullptr) continue;
    const Result<ModuleVariable> found = kernel.kernel.variable(variable->name);
    if (found)
      all.push_back({variable->name, reinterpret_cast<uintptr_t>(found->address), found->bytes});
  }
  return all;
}

ptx::SourceLines lines_of(const WatchedKernel& kernel) {
  const ptx::Module& module = kernel.kernel.module();
  const ptx::Function* function = module.find_function(kernel.kernel.name());
  return function != nullptr ? ptx::SourceLines(module, *function) : ptx::SourceLines();
}

void place_in_box(uint32_t (&to)[3], uint32_t number, const uint32_t (&extents)[3]) {
  to[0] = number % extents[0];
  to[1] = number / extents[0] % extents[1];
  to[2] = number / extents[0] / extents[1];
}

}  // namespace sluice::hostcuda
