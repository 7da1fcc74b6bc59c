#include "ptx/references.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "ptx/visit.hpp"

namespace sluice::ptx {
namespace {

class References {
 public:
  explicit References(const std::function<void(std::string&)>& visit) : visit_(visit) {}

  void operator()(Variable& variable) { all(variable.initialiser); }

  void operator()(Function& function) {
    Scope& scope = hidden_.emplace_back();
    for (const std::vector<Variable>* list : {&function.results, &function.parameters}) {
      for (const Variable& variable : *list)
        scope.insert(variable.name);
    }
    (*this)(function.body);
    hidden_.pop_back();
  }

  void operator()(Directive& directive) {
    if (directive.name != "alias" && directive.name != "calltargets") return;
    for (std::string& argument : directive.arguments)
      name(argument);
  }

  // A declaration hides a name in all of its block, wherever in the block it stands.
  void operator()(Block& block) {
    Scope& scope = hidden_.emplace_back();
    for (const Statement& statement : block.statements) {
      if (const auto* variable = std::get_if<Variable>(&statement)) scope.insert(variable->name);
      if (const auto* label = std::get_if<Label>(&statement)) scope.insert(label->name);
    }
    for (Statement& statement : block.statements)
      std::visit(*this, statement);
    hidden_.pop_back();
  }

  void operator()(Instruction& instruction) { all(instruction.operands); }
  void operator()(Label&) {}

 private:
  using Scope = std::set<std::string, std::less<>>;

  void all(std::vector<Operand>& operands) {
    for (Operand& operand : operands)
      for_each_name(operand, [&](std::string& it) { name(it); });
  }

  void name(std::string& name) {
    const bool is_hidden = std::any_of(hidden_.begin(), hidden_.end(),
                                       [&](const Scope& scope) { return scope.contains(name); });
    if (!name.empty() && !is_hidden) visit_(name);
  }

  const std::function<void(std::string&)>& visit_;
  std::vector<Scope> hidden_;
};

}  // namespace

void visit_references(ModuleItem& item, const std::function<void(std::string& name)>& visit) {
  std::visit(References(visit), item);
}

}  // namespace sluice::ptx
