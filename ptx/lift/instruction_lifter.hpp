// One PTX instruction: its operands as LLVM values, its modifiers, its place for errors.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ptx/lift/function_lifter.hpp"
#include "ptx/lift/modifiers.hpp"
#include "ptx/lift/types.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// quoted() puts a name between apostrophes, for errors.
std::string quoted(std::string_view name);

class InstructionLifter {
 public:
  // `guard` is the condition under which destinations are written, null where it is always.
  InstructionLifter(FunctionLifter& function, const Instruction& instruction, llvm::Value* guard);

  // lift() emits the instruction; it throws Refusal.
  void lift();

  Modifiers modifiers;

  const Instruction& instruction() const { return instruction_; }
  const InstructionInfo& info() const { return instruction_.info(); }
  llvm::Value* guard() const { return guard_; }
  FunctionLifter& function() { return function_; }
  llvm::IRBuilder<>& ir() { return function_.ir(); }
  llvm::LLVMContext& context() { return function_.context(); }

  size_t operand_count() const { return instruction_.operands.size(); }
  const Operand& operand(size_t index) const;

  // take_type() takes the next type modifier and refuses an instruction that has none.
  ScalarType take_type();

  // read() is a source operand as a value of value_type(type). A wider register gives its low
  // bits; a narrower one is refused.
  llvm::Value* read(size_t index, ScalarType type) { return read(operand(index), type); }
  llvm::Value* read(const Operand& operand, ScalarType type);
  llvm::Value* read_register(std::string_view name);

  // write() assigns to a destination operand; a wider register gets the value extended as `type`
  // says (sign or zero). Under a guard the register keeps its value where the guard is false.
  void write(size_t index, llvm::Value* value, ScalarType type) {
    write(operand(index), value, type);
  }
  void write(const Operand& operand, llvm::Value* value, ScalarType type);
  void write_register(std::string_view name, llvm::Value* value, ScalarType type);

  // assign() stores into a slot, keeping what it holds where the guard is false.
  void assign(llvm::Value* slot, llvm::Value* value);

  // declared_type() is how the register in an operand was declared, none for other operands.
  ScalarType declared_type(const Operand& operand);

  // address_of() is the address of a variable or function as an integer of `type`.
  llvm::Value* address_of(std::string_view name, int64_t bytes, ScalarType type);

  // to_bits() is a value as an integer of the same width, from_bits() the way back.
  llvm::Value* to_bits(llvm::Value* value);
  llvm::Value* from_bits(llvm::Value* bits, llvm::Type* type);

  llvm::Constant* integer(llvm::Type* type, uint64_t value);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, std::initializer_list<llvm::Type*> types,
                         llvm::ArrayRef<llvm::Value*> arguments);
  // tagged_intrinsic() is for those that touch memory or synchronise.
  llvm::CallInst* tagged_intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments);
  // tagged_call() calls a function that stands for what NVVM in LLVM 19 has no intrinsic for.
  llvm::CallInst* tagged_call(llvm::StringRef name, llvm::Type* result,
                              llvm::ArrayRef<llvm::Value*> arguments);

  // tag() notes the PTX line on an instruction and returns it.
  template <class T>
  T* tag(T* instruction) {
    tag_line(instruction);
    return instruction;
  }

  [[noreturn]] void refuse_unsupported(const std::string& why);
  [[noreturn]] void refuse_unimplemented(const std::string& why);
  [[noreturn]] void refuse_invalid(const std::string& why);

 private:
  void tag_line(llvm::Instruction* instruction);
  void check_operand_count();
  std::string text() const;
  llvm::Value* literal(uint64_t bits, unsigned width, ScalarType type);
  llvm::Value* convert_register(llvm::Value* value, ScalarType type);
  llvm::Value* extend_for_register(llvm::Value* value, ScalarType type, llvm::Type* wanted);

  FunctionLifter& function_;
  const Instruction& instruction_;
  llvm::Value* guard_;
};

}  // namespace sluice::ptx::lift_detail
