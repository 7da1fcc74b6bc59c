#include "ptx/lift/instruction_lifter.hpp"

#include <iterator>

#include <llvm/IR/Metadata.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/refusal.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::lift_detail {

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
  check_operand_count();
  lifts[row](*this);
  if (!modifiers.left_over().empty()) {
    refuse_unsupported("modifier ." + std::string(modifiers.left_over()) + " is not supported");
  }
}

void InstructionLifter::check_operand_count() {
  size_t least = 0;
  size_t most = 0;
  for (char letter : info().operands) {
    if (letter == '?') {
      --least;
    } else {
      ++least;
      ++most;
    }
  }
  if (operand_count() < least || operand_count() > most) {
    refuse_unsupported("it has " + std::to_string(operand_count()) + " operands");
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

std::string InstructionLifter::text() const {
  return "instruction " + quoted(print(instruction_));
}

void InstructionLifter::refuse_unsupported(const std::string& why) {
  refuse(unsupported(text() + " is not supported: " + why, function_.place(instruction_.location)));
}

void InstructionLifter::refuse_unimplemented(const std::string& why) {
  refuse(unimplemented(text() + " is not implemented: " + why,
                       function_.place(instruction_.location)));
}

void InstructionLifter::refuse_invalid(const std::string& why) {
  refuse(invalid_input(text() + " is not valid: " + why, function_.place(instruction_.location)));
}

void InstructionLifter::tag_line(llvm::Instruction* instruction) {
  auto* line =
      llvm::ConstantInt::get(llvm::Type::getInt32Ty(context()), instruction_.location.line);
  instruction->setMetadata("sluice.ptx",
                           llvm::MDNode::get(context(), llvm::ConstantAsMetadata::get(line)));
}

llvm::Constant* InstructionLifter::integer(llvm::Type* type, uint64_t value) {
  return llvm::ConstantInt::get(type, value);
}

llvm::Value* InstructionLifter::intrinsic(llvm::Intrinsic::ID id,
                                          std::initializer_list<llvm::Type*> types,
                                          llvm::ArrayRef<llvm::Value*> arguments) {
  return ir().CreateIntrinsic(id, llvm::ArrayRef(types), arguments);
}

llvm::CallInst* InstructionLifter::tagged_intrinsic(llvm::Intrinsic::ID id,
                                                    llvm::ArrayRef<llvm::Value*> arguments) {
  return tag(ir().CreateIntrinsic(id, {}, arguments));
}

llvm::CallInst* InstructionLifter::tagged_call(llvm::StringRef name, llvm::Type* result,
                                               llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments)
    types.push_back(argument->getType());
  llvm::FunctionCallee callee = function().module().module().getOrInsertFunction(
      name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  return tag(ir().CreateCall(callee, arguments));
}

}  // namespace sluice::ptx::lift_detail
