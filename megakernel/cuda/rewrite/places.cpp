#include "megakernel/cuda/rewrite/places.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/number/divide_up.hpp"
#include "megakernel/cuda/worker_memory.h"
#include "ptx/parameter_layout.hpp"
#include "ptx/visit.hpp"

namespace sluice::megakernel {
namespace {

using ptx::StateSpace;
using ptx::Variable;

// No device gives a block more shared memory than this.
constexpr uint64_t most_shared = 256 * 1024;

// names_in() collects every name that stands in an operand of the functions.
std::set<std::string> names_in(const std::vector<const ptx::Function*>& functions) {
  std::set<std::string> names;
  for (const ptx::Function* function : functions) {
    ptx::for_each_instruction(function->body, [&](const ptx::Instruction& instruction) {
      for (const ptx::Operand& operand : instruction.operands)
        ptx::for_each_name(operand, [&](const std::string& name) { names.insert(name); });
    });
  }
  return names;
}

}  // namespace

Result<Places> Places::create(const ptx::Module& module, const ptx::Function& kernel,
                              const std::vector<const ptx::Function*>& functions, uint32_t lanes) {
  Places places;
  uint32_t bytes = 0;
  for (const ptx::ParameterPlace& place : ptx::parameter_layout(kernel, &bytes))
    places.parameters_[place.name] = SLUICE_PARAMETERS + place.offset;
  places.parameter_bytes_ = static_cast<uint32_t>(round_up(bytes, 8));

  const std::set<std::string> used = names_in(functions);
  std::vector<const Variable*> shared;
  for (const ptx::ModuleItem& item : module.items) {
    const auto* variable = std::get_if<Variable>(&item);
    if (variable == nullptr || !used.contains(variable->name)) continue;
    if (ptx::is_reference(variable->type))
      return unsupported("it names a texture or surface reference");
    if (variable->space == StateSpace::shared) {
      shared.push_back(variable);
    } else if (variable->space == StateSpace::global || variable->space == StateSpace::constant) {
      places.addresses_[variable->name] = SLUICE_PARAMETERS + places.parameter_bytes_ +
                                          8 * static_cast<uint32_t>(places.variables_.size());
      places.variables_.push_back(variable->name);
    } else {
      return unsupported(
          fmt::format("module variable {} lies in a state space that task bodies "
                      "do not share",
                      variable->name));
    }
  }
  for (const ptx::Function* function : functions) {
    ptx::for_each_statement(function->body, [&](const ptx::Statement& statement) {
      const auto* variable = std::get_if<Variable>(&statement);
      if (variable != nullptr && variable->space == StateSpace::shared) shared.push_back(variable);
    });
  }
  uint64_t end = SLUICE_PARAMETERS + places.parameter_bytes_ + 8 * places.variables_.size();
  places.own_offset_ = static_cast<uint32_t>(end);
  end += 4 * uint64_t{lanes};
  uint64_t dynamic_alignment = 16;
  std::vector<std::string> dynamic;
  for (const Variable* variable : shared) {
    const uint64_t alignment = variable->aligned_to();
    if (alignment > SLUICE_POOL_ALIGNMENT) {
      return unsupported(
          fmt::format("shared variable {} is aligned to {} bytes, more than the {} "
                      "of a worker's memory",
                      variable->name, alignment, int{SLUICE_POOL_ALIGNMENT}));
    }
    if (variable->linkage == "extern") {
      dynamic_alignment = std::max(dynamic_alignment, alignment);
      dynamic.push_back(variable->name);
      continue;
    }
    end = round_up(end, alignment);
    if (!places.shared_.emplace(variable->name, static_cast<uint32_t>(end)).second) {
      return unsupported(fmt::format("two shared variables are called {}", variable->name));
    }
    if (variable->bytes() > most_shared || (end += variable->bytes()) > most_shared) {
      return unsupported("its static shared memory is more than any device has");
    }
  }
  places.dynamic_offset_ = static_cast<uint32_t>(round_up(end, dynamic_alignment));
  for (const std::string& name : dynamic)
    places.shared_[name] = places.dynamic_offset_;
  return places;
}

std::optional<uint32_t> Places::pool_offset(const std::string& name, bool in_kernel) const {
  if (in_kernel) {
    if (const auto found = parameters_.find(name); found != parameters_.end()) return found->second;
  }
  const auto found = shared_.find(name);
  return found == shared_.end() ? std::nullopt : std::optional<uint32_t>(found->second);
}

std::optional<uint32_t> Places::address_offset(const std::string& name) const {
  const auto found = addresses_.find(name);
  return found == addresses_.end() ? std::nullopt : std::optional<uint32_t>(found->second);
}

}  // namespace sluice::megakernel
