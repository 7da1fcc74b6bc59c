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

bool has_flag(const ptx::Function& function) {
  bool shares = false;
  ptx::for_each_statement(function.body, [&](const ptx::Statement& statement) {
    const auto* instruction = std::get_if<ptx::Instruction>(&statement);
    shares |= instruction != nullptr && shares_flag(*instruction);
  });
  return shares;
}

}  // namespace

bool shares_flags(const ptx::Module& module, const std::string& kernel) {
  return std::ranges::any_of(module.items, [&](const ptx::ModuleItem& item) {
    const auto* function = std::get_if<ptx::Function>(&item);
    const bool may_run = function != nullptr && (!function->is_entry || function->name == kernel);
    return may_run && has_flag(*function);
  });
}

}  // namespace sluice::hostcuda
