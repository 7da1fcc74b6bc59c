#include "ptx/grammar/plain_form.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ptx/visit.hpp"

namespace sluice::ptx::grammar {
namespace {

constexpr std::string_view element_letters = "xyzw";

bool is_vector_register(const Variable& variable) {
  return variable.space == StateSpace::reg && variable.vector_elements > 1;
}

bool belongs_to_module(const Variable& variable) {
  return variable.space == StateSpace::global || variable.space == StateSpace::constant;
}

bool is_plain(const Function& function) {
  bool plain = true;
  for_each_statement(function.body, [&](const Statement& statement) {
    const auto* variable = std::get_if<Variable>(&statement);
    if (variable == nullptr) return;
    plain = plain && !is_vector_register(*variable) && !belongs_to_module(*variable);
  });
  return plain;
}

// Meaning is what a name of a scope stands for.
struct Meaning {
  size_t elements = 0;    // of a vector register
  bool is_range = false;  // `%v<3>`: the name is "%v"
  std::string variable;   // the module's, where it has become one
};

class PlainFunction {
 public:
  PlainFunction(const std::string& function, std::set<std::string>& taken)
      : function_(function), taken_(taken) {}

  void rewrite(Block& block) {
    scopes_.emplace_back();
    std::vector<Statement> statements;
    for (Statement& statement : block.statements) {
      if (auto* variable = std::get_if<Variable>(&statement)) {
        declare(std::move(*variable), statements);
        continue;
      }
      if (auto* inner = std::get_if<Block>(&statement)) rewrite(*inner);
      if (auto* instruction = std::get_if<Instruction>(&statement)) rewrite(instruction->operands);
      statements.push_back(std::move(statement));
    }
    block.statements = std::move(statements);
    scopes_.pop_back();
  }

  std::vector<Variable> variables;  // that are the module's now

 private:
  void declare(Variable variable, std::vector<Statement>& statements) {
    // Whatever it is, it hides what the name meant outside.
    Meaning& meaning = scopes_.back()[variable.name] = {};
    if (is_vector_register(variable)) {
      meaning.elements = std::exchange(variable.vector_elements, 1);
      meaning.is_range = variable.range_count.has_value();
      for (size_t i = 0; i < meaning.elements; ++i) {
        Variable element = variable;
        element.name += {'$', element_letters[i]};
        statements.emplace_back(std::move(element));
      }
    } else if (belongs_to_module(variable)) {
      meaning.variable = function_ + "$" + variable.name;
      // A name may begin with '%' and has none later.
      std::replace(meaning.variable.begin() + 1, meaning.variable.end(), '%', '$');
      while (!taken_.insert(meaning.variable).second)
        meaning.variable += '$';
      variable.name = meaning.variable;
      rewrite(variable.initialiser);
      variables.push_back(std::move(variable));
    } else {
      statements.emplace_back(std::move(variable));
    }
  }

  // find() looks a name up from the inside out; `number` becomes that of a register of a range.
  const Meaning* find(std::string_view name, std::string_view& number) const {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    for (size_t i = scopes_.size(); i-- > 0;) {
      number = {};
      if (const auto found = scopes_[i].find(name); found != scopes_[i].end()) {
        return &found->second;
      }
      number = name.substr(digits);
      const auto range = scopes_[i].find(name.substr(0, digits));
      if (range != scopes_[i].end() && range->second.is_range) return &range->second;
    }
    return nullptr;
  }

  void rewrite(std::vector<Operand>& operands) {
    for (Operand& operand : operands) {
      for_each_operand(operand, [&](Operand& leaf) {
        if (auto* identifier = std::get_if<Identifier>(&leaf.value)) rewrite(*identifier, leaf);
        if (auto* offset = std::get_if<Offset>(&leaf.value)) rename(offset->name);
        if (auto* address = std::get_if<Address>(&leaf.value)) rename(address->base);
      });
    }
  }

  void rename(std::string& name) const {
    std::string_view number;
    const Meaning* meaning = find(name, number);
    if (meaning != nullptr && !meaning->variable.empty()) name = meaning->variable;
  }

  void rewrite(const Identifier& identifier, Operand& leaf) const {
    std::string_view number;
    const Meaning* meaning = find(identifier.name, number);
    if (meaning == nullptr) return;
    if (!meaning->variable.empty()) {
      leaf = Operand{Identifier{meaning->variable, identifier.component}};
      return;
    }
    const std::string_view stem =
        std::string_view(identifier.name).substr(0, identifier.name.size() - number.size());
    VectorOperand elements;
    for (size_t i = 0; i < meaning->elements; ++i) {
      std::string name(stem);
      name += {'$', element_letters[i]};
      elements.elements.push_back(Operand{Identifier{name.append(number), {}}});
    }
    if (elements.elements.empty()) return;
    if (identifier.component.empty()) {
      leaf = Operand{std::move(elements)};
      return;
    }
    // `.r` is another word for `.x`.
    size_t index = element_letters.find(identifier.component);
    if (index == std::string_view::npos)
      index = std::string_view("rgba").find(identifier.component);
    if (index < elements.elements.size()) leaf = Operand(std::move(elements.elements[index]));
  }

  const std::string& function_;
  std::set<std::string>& taken_;
  std::vector<std::map<std::string, Meaning, std::less<>>> scopes_;
};

}  // namespace

void make_plain(Module& module) {
  std::set<std::string> names;
  for (size_t i = 0; i < module.items.size(); ++i) {
    auto* function = std::get_if<Function>(&module.items[i]);
    if (function == nullptr || is_plain(*function)) continue;
    if (names.empty()) {
      for (const ModuleItem& item : module.items) {
        if (const auto* variable = std::get_if<Variable>(&item)) names.insert(variable->name);
        if (const auto* other = std::get_if<Function>(&item)) names.insert(other->name);
      }
    }
    PlainFunction plain(function->name, names);
    plain.rewrite(function->body);
    const auto place = module.items.begin() + static_cast<std::ptrdiff_t>(i);
    i += plain.variables.size();
    module.items.insert(place, std::make_move_iterator(plain.variables.begin()),
                        std::make_move_iterator(plain.variables.end()));
  }
}

}  // namespace sluice::ptx::grammar
