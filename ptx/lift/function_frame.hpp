// Where the registers, parameters and variables of a lifted function lie.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

#include "ptx/lift/module_lifter.hpp"
#include "ptx/lift/scope.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// FunctionFrame makes storage in a function's entry block. Registers and scalar .param variables
// are allocas at first; promote() makes them values.
class FunctionFrame {
 public:
  FunctionFrame(ModuleLifter& module, const Function& source, llvm::Function& function);

  // Where the function's own instructions begin: after all that the frame makes.
  llvm::BasicBlock* body() { return body_; }
  Scopes& scopes() { return scopes_; }

  // declare_parameters() declares results and parameters in the innermost scope, declare() what a
  // statement of a body does. They throw Refusal.
  void declare_parameters();
  void declare(const Variable& variable);

  // The block before the body, for what is done once. make_storage() is an alloca in it; an
  // alignment of 0 is the type's own.
  llvm::BasicBlock* entry() { return entry_; }
  llvm::AllocaInst* make_storage(llvm::Type* type, uint32_t alignment, const llvm::Twine& name);

  // register_slot() is the alloca of a register, made and set to zero at its first use, so that
  // reading a register before it is written has one meaning (PTX gives it none).
  llvm::Value* register_slot(Symbol& symbol);

  // condition_code() is the alloca of the carry flag that add.cc and its kin write.
  llvm::Value* condition_code();

 private:
  llvm::AllocaInst* make_zero(llvm::Type* type, const llvm::Twine& name);
  void declare_registers(const Variable& variable);

  ModuleLifter& module_;
  const Function& source_;
  llvm::Function& function_;
  llvm::BasicBlock* entry_;
  llvm::BasicBlock* body_;
  Scopes scopes_;
  llvm::Value* condition_code_ = nullptr;
  uint64_t local_bytes_ = 0;  // of variables in .local
};

}  // namespace sluice::ptx::lift_detail
