#include "ptx/lift/instruction_lifter.hpp"

#include <iterator>

#include "ptx/lift/families.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::lift_detail {
namespace {

void check_operand_count(InstructionLifter& lifter) {
  size_t least = 0;
  size_t most = 0;
  for (char letter : lifter.info().operands) {
    if (letter == '?') {
      --least;
    } else {
      ++least;
      ++most;
    }
  }
  if (lifter.operand_count() < least || lifter.operand_count() > most) {
    lifter.refuse_unsupported("it has " + std::to_string(lifter.operand_count()) + " operands");
  }
}

std::string described(const Instruction& instruction) {
  return "instruction " + quoted(print(instruction));
}

}  // namespace

std::string quoted(std::string_view name) {
  std::string text(1, '\'');
  text += name;
  text += '\'';
  return text;
}

InstructionLifter::InstructionLifter(FunctionLifter& function, const Instruction& instruction,
                                     llvm::Value* guard)
    : modifiers(instruction.modifiers),
      function_(function),
      instruction_(instruction),
      guard_(guard) {}

void InstructionLifter::lift() {
  using Lift = void (*)(InstructionLifter&);
  static constexpr Lift lifts[] = {
#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, operands, effect, lift, ...) lift_detail::lift,
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
  };
  const auto row = static_cast<size_t>(instruction_.opcode);
  if (row >= std::size(lifts)) refuse_unsupported("it is outside the instruction table");
  check_operand_count(*this);
  lifts[row](*this);
  if (!modifiers.left_over().empty()) {
    refuse_unsupported("modifier ." + std::string(modifiers.left_over()) + " is not supported");
  }
}

const Operand& InstructionLifter::operand(size_t index) const {
  if (index >= operand_count()) {
    const_cast<InstructionLifter*>(this)->refuse_invalid("an operand is missing");
  }
  return instruction_.operands[index];
}

ScalarType InstructionLifter::take_type() {
  auto type = modifiers.take_type();
  if (!type) refuse_invalid("its type is missing");
  return *type;
}

void InstructionLifter::refuse_unsupported(const std::string& why) {
  refuse(unsupported(described(instruction_) + " is not supported: " + why,
                     place_of(function_.module(), function_.source(), instruction_.location)));
}

void InstructionLifter::refuse_unimplemented(const std::string& why) {
  refuse(unimplemented(described(instruction_) + " is not implemented: " + why,
                       place_of(function_.module(), function_.source(), instruction_.location)));
}

void InstructionLifter::refuse_invalid(const std::string& why) {
  refuse(invalid_input(described(instruction_) + " is not valid: " + why,
                       place_of(function_.module(), function_.source(), instruction_.location)));
}

}  // namespace sluice::ptx::lift_detail
