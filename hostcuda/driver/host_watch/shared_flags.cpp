#include "hostcuda/driver/host_watch/shared_flags.hpp"

#include <algorithm>
#include <variant>

#include "ptx/visit.hpp"

namespace sluice::hostcuda {
namespace {

bool shares_flag(const ptx::Instruction& instruction) {
  if (instruction.has_modifier("shared")) return false;
  constexpr const char* orders[] = {"volatile", "sys", "relaxed", "acquire", "release", "acq_rel"};
  return std::ranges::any_of(orders, [&](const char* m) { return instruction.has_modifier(m); });
}

bool shares_flags(const ptx::Function& function) {
  bool shares = false;
  ptx::for_each_statement(function.body, [&](const ptx::Statement& statement) {
    const auto* instruction = std::get_if<ptx::Instruction>(&statement);
    shares |= instruction != nullptr && shares_flag(*instruction);
  });
  return shares;
}

}  // namespace

std::set<std::string> kernels_with_flags(const ptx::Module& module) {
  bool in_function = false;
  for (const ptx::ModuleItem& item : module.items) {
    const auto* function = std::get_if<ptx::Function>(&item);
    in_function |= function != nullptr && !function->is_entry && shares_flags(*function);
  }
  std::set<std::string> names;
  for (const ptx::Function* kernel : module.kernels()) {
    if (in_function || shares_flags(*kernel)) names.insert(kernel->name);
  }
  return names;
}

}  // namespace sluice::hostcuda
