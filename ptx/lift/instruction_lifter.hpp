// One PTX instruction: its operands as LLVM values, its modifiers, its place for errors.
#pragma once

#include <string>

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

  [[noreturn]] void refuse_unsupported(const std::string& why);
  [[noreturn]] void refuse_unimplemented(const std::string& why);
  [[noreturn]] void refuse_invalid(const std::string& why);

 private:
  FunctionLifter& function_;
  const Instruction& instruction_;
  llvm::Value* guard_;
};

// declared_type() is how the register in an operand was declared, none for other operands.
ScalarType declared_type(InstructionLifter& lifter, const Operand& operand);

}  // namespace sluice::ptx::lift_detail
