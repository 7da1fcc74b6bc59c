#include "hostcuda/jit/kernel_facts.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/number/divide_up.hpp"
#include "ptx/parameter_layout.hpp"
#include "ptx/target.hpp"
#include "ptx/visit.hpp"

namespace sluice::hostcuda::jit {
namespace {

constexpr uint32_t device_max_threads = 1024;

// StorageWalk adds up the static shared, the local and the constant variables of a kernel and of
// the functions it calls.
class StorageWalk {
 public:
  explicit StorageWalk(const ptx::Module& module) {
    for (const ptx::ModuleItem& item : module.items) {
      const auto* function = std::get_if<ptx::Function>(&item);
      if (function && function->is_definition) definitions_.emplace(function->name, function);
      const auto* variable = std::get_if<ptx::Variable>(&item);
      if (variable && bytes_.contains(variable->space)) {
        module_variables_[variable->name] = variable;
      }
    }
  }

  void walk(const ptx::Function& kernel) {
    reach(kernel);
    // A list and no recursion: programs may chain more calls than a stack has room for.
    while (!pending_.empty())
      visit_next();
  }

  uint32_t bytes(ptx::StateSpace space) const {
    return static_cast<uint32_t>(std::min<uint64_t>(bytes_.at(space), UINT32_MAX));
  }

 private:
  void reach(const ptx::Function& function) {
    if (functions_.insert(&function).second) pending_.push_back(&function);
  }

  void visit_next() {
    const ptx::Function& function = *pending_.back();
    pending_.pop_back();
    ptx::for_each_statement(function.body, [&](const ptx::Statement& statement) {
      if (const auto* variable = std::get_if<ptx::Variable>(&statement)) {
        if (bytes_.contains(variable->space)) add(*variable);
      } else if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) {
        for (const ptx::Operand& operand : instruction->operands)
          ptx::for_each_name(operand, [&](const std::string& it) { name(it); });
      }
    });
  }

  void name(const std::string& name) {
    auto variable = module_variables_.find(name);
    if (variable != module_variables_.end()) add(*variable->second);
    auto function = definitions_.find(name);
    if (function != definitions_.end()) reach(*function->second);
  }

  void add(const ptx::Variable& variable) {
    if (variable.linkage == "extern" || !variables_.insert(&variable).second) return;
    uint64_t& bytes = bytes_.at(variable.space);
    bytes = round_up(bytes, uint64_t{variable.aligned_to()}) + variable.bytes();
  }

  std::map<std::string, const ptx::Function*, std::less<>> definitions_;
  std::map<std::string, const ptx::Variable*, std::less<>> module_variables_;
  std::set<const ptx::Function*> functions_;
  std::vector<const ptx::Function*> pending_;
  std::set<const ptx::Variable*> variables_;
  std::map<ptx::StateSpace, uint64_t> bytes_ = {
      {ptx::StateSpace::shared, 0}, {ptx::StateSpace::local, 0}, {ptx::StateSpace::constant, 0}};
};

// .maxntid nx, ny, nz and .reqntid: the product of the extents.
uint32_t max_threads(const ptx::Function& kernel) {
  uint64_t limit = device_max_threads;
  for (const ptx::Directive& directive : kernel.attributes) {
    if (directive.name != "maxntid" && directive.name != "reqntid") continue;
    uint64_t product = 1;
    for (const std::string& argument : directive.arguments) {
      uint64_t value = 0;
      const char* end = argument.data() + argument.size();
      if (std::from_chars(argument.data(), end, value).ec == std::errc() && value <= UINT32_MAX) {
        product = std::min<uint64_t>(product * value, UINT32_MAX);
      }
    }
    limit = std::min(limit, std::max<uint64_t>(product, 1));
  }
  return static_cast<uint32_t>(limit);
}

}  // namespace

Result<KernelFacts> kernel_facts(const ptx::Module& module, std::string_view kernel) {
  const ptx::Function* function = module.find_function(kernel);
  if (!function || !function->is_entry || !function->is_definition) {
    return invalid_input("the module has no such kernel", fmt::format("kernel {}", kernel));
  }
  KernelFacts facts;
  for (const ptx::ParameterPlace& place :
       ptx::parameter_layout(*function, &facts.parameter_bytes)) {
    facts.parameters.push_back({place.offset, place.size});
  }
  StorageWalk storage(module);
  storage.walk(*function);
  facts.static_shared_bytes = storage.bytes(ptx::StateSpace::shared);
  facts.local_bytes = storage.bytes(ptx::StateSpace::local);
  facts.constant_bytes = storage.bytes(ptx::StateSpace::constant);
  facts.max_threads = max_threads(*function);
  if (!module.target.empty()) facts.architecture = ptx::target_age(module.target[0]).architecture;
  return facts;
}

}  // namespace sluice::hostcuda::jit
