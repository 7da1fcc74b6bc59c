#include "interpreter/code.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace sluice::interpreter {
namespace {

using ptx::StateSpace;

std::optional<Special> special_register(std::string_view name) {
  constexpr std::pair<std::string_view, Special> specials[] = {
      {"%tid", Special::tid},       {"%ntid", Special::ntid},     {"%ctaid", Special::ctaid},
      {"%nctaid", Special::nctaid}, {"%laneid", Special::laneid}, {"%warpid", Special::warpid}};
  for (const auto& [spelt, special] : specials) {
    if (name == spelt) return special;
  }
  return std::nullopt;
}

class Decoder {
 public:
  Decoder(const ptx::Module& module, const std::unordered_map<std::string, uint64_t>& globals)
      : module_(module), globals_(globals) {}

  Result<Code> decode(std::string_view kernel) {
    code_.kernel = module_.find_function(kernel);
    if (!code_.kernel || !code_.kernel->is_entry) {
      return invalid_input(fmt::format("no kernel {}", kernel));
    }
    for (const ptx::ModuleItem& item : module_.items) {
      if (const auto* variable = std::get_if<ptx::Variable>(&item)) declare(*variable);
    }
    uint64_t offset = 0;
    for (const ptx::Variable& parameter : code_.kernel->parameters) {
      const uint64_t bytes = parameter.bytes();
      const uint64_t alignment =
          std::max<uint64_t>(parameter.alignment, ptx::size_in_bytes(parameter.type));
      offset = (offset + alignment - 1) / alignment * alignment;
      names_[parameter.name] = offset;
      offset += bytes;
    }
    add(code_.kernel->body);
    for (size_t i = 0; i < code_.steps.size() && problem_.empty(); ++i) {
      if (targets_[i].empty()) continue;
      const auto found = labels_.find(targets_[i]);
      if (found == labels_.end())
        refuse(*code_.steps[i].source, "has no target");
      else
        code_.steps[i].target = found->second;
    }
    if (!problem_.empty()) return unsupported(problem_);
    code_.registers = static_cast<uint32_t>(registers_.size());
    return std::move(code_);
  }

 private:
  void refuse(const ptx::Instruction& instruction, std::string_view why) {
    if (!problem_.empty()) return;
    std::string text(instruction.opcode_name());
    for (const std::string& modifier : instruction.modifiers)
      text += "." + modifier;
    problem_ = fmt::format("line {}: {} {}", instruction.location.line, text, why);
  }

  void declare(const ptx::Variable& variable) {
    const auto place = [&](uint64_t& end) {
      const uint64_t alignment =
          std::max<uint64_t>({variable.alignment, ptx::size_in_bytes(variable.type), uint64_t{1}});
      end = (end + alignment - 1) / alignment * alignment;
      names_[variable.name] = end;
      end += variable.bytes();
    };
    if (variable.space == StateSpace::shared) place(code_.shared_bytes);
    if (variable.space == StateSpace::local) place(code_.local_bytes);
    const auto global = globals_.find(variable.name);
    if (global != globals_.end()) names_[variable.name] = global->second;
  }

  void add(const ptx::Block& block) {
    for (const ptx::Statement& statement : block.statements) {
      if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) add(*instruction);
      if (const auto* variable = std::get_if<ptx::Variable>(&statement)) declare(*variable);
      if (const auto* label = std::get_if<ptx::Label>(&statement)) {
        labels_[label->name] = static_cast<uint32_t>(code_.steps.size());
      }
      // A scope of its own would need its own names.
      if (std::holds_alternative<ptx::Block>(statement)) problem_ = "a nested { }";
    }
  }

  void add(const ptx::Instruction& instruction) {
    Step step;
    step.source = &instruction;
    if (instruction.guard) {
      step.guarded = true;
      step.negated = instruction.guard->negated;
      step.guard = number_of(instruction.guard->predicate);
    }
    for (const std::string& modifier : instruction.modifiers) {
      const auto type = ptx::scalar_type(modifier);
      if (!type) continue;
      if (step.type == ScalarType::none) step.type = *type;
      step.from = *type;
    }
    std::string target;
    for (const ptx::Operand& operand : instruction.operands) {
      const auto* name = std::get_if<ptx::Identifier>(&operand.value);
      if (instruction.opcode_name() == "bra" && name)
        target = name->name;
      else
        step.arguments.push_back(argument(instruction, operand));
    }
    if (!choose_action(step)) refuse(instruction, "is not interpreted");
    code_.steps.push_back(std::move(step));
    targets_.push_back(std::move(target));
  }

  uint32_t number_of(const std::string& name) {
    return registers_.try_emplace(name, static_cast<uint32_t>(registers_.size())).first->second;
  }

  Argument argument(const ptx::Instruction& instruction, const ptx::Operand& operand) {
    Argument result;
    if (const auto* name = std::get_if<ptx::Identifier>(&operand.value)) return named(*name);
    if (const auto* literal = std::get_if<ptx::IntegerLiteral>(&operand.value)) {
      result.kind = Argument::Kind::bits;
      result.bits = literal->bits;
    } else if (const auto* number = std::get_if<ptx::FloatLiteral>(&operand.value)) {
      result.kind = Argument::Kind::literal;
      result.bits = number->bits;
      result.literal_width = number->width;
    } else if (const auto* address = std::get_if<ptx::Address>(&operand.value)) {
      result.kind = Argument::Kind::memory;
      result.bits = static_cast<uint64_t>(address->bytes);
      const auto known = names_.find(address->base);
      if (known != names_.end()) {
        result.bits += known->second;
      } else if (!address->base.empty()) {
        result.has_base = true;
        result.number = number_of(address->base);
      }
    } else if (const auto* vector = std::get_if<ptx::VectorOperand>(&operand.value)) {
      result.kind = Argument::Kind::registers;
      for (const ptx::Operand& element : vector->elements) {
        const auto* name = std::get_if<ptx::Identifier>(&element.value);
        if (!name)
          refuse(instruction, "has a vector of other things than registers");
        else
          result.registers.push_back(number_of(name->name));
      }
    } else if (const auto* pair = std::get_if<ptx::PairOperand>(&operand.value)) {
      result.kind = Argument::Kind::registers;
      result.registers = {number_of(pair->first), number_of(pair->second)};
    } else if (const auto* opposite = std::get_if<ptx::NotOperand>(&operand.value)) {
      result.kind = Argument::Kind::reg;
      result.negated = true;
      result.number = number_of(opposite->predicate.name);
    } else {
      refuse(instruction, "has an operand that is not interpreted");
    }
    return result;
  }

  Argument named(const ptx::Identifier& name) {
    Argument result;
    if (const auto special = special_register(name.name)) {
      result.kind = Argument::Kind::special;
      result.special = *special;
      result.number = name.component.empty() ? 0 : static_cast<uint32_t>(name.component[0] - 'x');
    } else if (const auto known = names_.find(name.name); known != names_.end()) {
      result.kind = Argument::Kind::bits;
      result.bits = known->second;
    } else {
      result.kind = Argument::Kind::reg;
      result.number = number_of(name.name);
    }
    return result;
  }

  const ptx::Module& module_;
  const std::unordered_map<std::string, uint64_t>& globals_;
  Code code_;
  std::vector<std::string> targets_;                     // by step
  std::unordered_map<std::string, uint64_t> names_;      // addresses of variables and parameters
  std::unordered_map<std::string, uint32_t> labels_;     // steps
  std::unordered_map<std::string, uint32_t> registers_;  // their numbers
  std::string problem_;
};

}  // namespace

Result<Code> decode(const ptx::Module& module, std::string_view kernel,
                    const std::unordered_map<std::string, uint64_t>& globals) {
  return Decoder(module, globals).decode(kernel);
}

}  // namespace sluice::interpreter
