#include "runtime/faults/action.hpp"

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {

int64_t argument_number(const analysis::KernelSignature& signature,
                        const analysis::ParameterSlot& pointer) {
  if (pointer.is_variable) return -1;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const analysis::ParameterSlot& parameter = signature.parameters[i];
    if (pointer.offset >= parameter.offset && pointer.offset < parameter.offset + parameter.size) {
      return int64_t(i);
    }
  }
  return -1;
}

Action action_of(const Known& launch) {
  const LaunchCall& call = *launch.kernel.call;
  const Kernel& kernel = *launch.kernel.function->kernel;
  Action action{kernel.name, launch.number, call.grid, call.block, {}, {}};
  if (call.site != nullptr) action.site = *call.site;
  const analysis::KernelSignature& signature = kernel.model->signature();
  for (size_t i = 0; i < launch.bound->arguments.size(); ++i) {
    const dro::BoundArgument& argument = launch.bound->arguments[i];
    if (argument.buffer == 0) continue;
    const int64_t place = argument_number(signature, signature.pointers[i]);
    action.arguments += fmt::format("{}{}: buffer {}", action.arguments.empty() ? "" : ", ",
                                    place < 0 ? signature.pointers[i].name : std::to_string(place),
                                    argument.buffer);
    if (argument.offset != 0) action.arguments += fmt::format(" + {}", argument.offset);
  }
  return action;
}

std::string action_text(const Action& action, const std::string& where) {
  std::string text = short_name(action.name);
  if (action.number != 0) {
    text +=
        fmt::format(" #{} (grid {}x{}x{}, block {}x{}x{})", action.number, action.grid.x,
                    action.grid.y, action.grid.z, action.block.x, action.block.y, action.block.z);
  }
  if (!action.arguments.empty()) text += fmt::format(" with {}", action.arguments);
  text += where;
  const std::string site = site_text(action.site, action.name);
  return site.empty() ? text : text + ", called from " + site + ",";
}

}  // namespace sluice::runtime
