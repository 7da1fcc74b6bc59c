// One PTX function body as LLVM IR.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "ptx/lift/module_lifter.hpp"
#include "ptx/lift/scope.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// FunctionLifter walks a body statement by statement. Registers and scalar .param variables are
// allocas at first; promote() makes them values.
class FunctionLifter {
 public:
  FunctionLifter(ModuleLifter& module, const Function& source, llvm::Function& function);

  // lift() fills the function; it throws Refusal.
  void lift();

  llvm::IRBuilder<>& ir() { return ir_; }
  llvm::LLVMContext& context() { return module_.context(); }
  ModuleLifter& module() { return module_; }
  llvm::Function& function() { return function_; }
  const Function& source() const { return source_; }
  Scopes& scopes() { return scopes_; }

  // place() names a place for errors: "kernel k, PTX line 41", or "kernel k, function f, PTX
  // line 41" inside a function that the kernel calls.
  std::string place(const Location& location) const;

  // register_slot() is the alloca of a register, made and set to zero at its first use, so that
  // reading a register before it is written has one meaning (PTX gives it none).
  llvm::Value* register_slot(Symbol& symbol);

  // condition_code() is the alloca of the carry flag that add.cc and its kin write.
  llvm::Value* condition_code();

  // entry_alloca() is storage of the function's frame.
  llvm::AllocaInst* entry_alloca(llvm::Type* type, uint32_t alignment, const llvm::Twine& name);

  llvm::BasicBlock* new_block(const llvm::Twine& name);

  // start() goes on in a block, placed after the current one so that blocks keep PTX order.
  void start(llvm::BasicBlock* block);

  // emit_return() returns from the function with what its result parameter holds.
  llvm::Instruction* emit_return();

 private:
  void declare_parameters();
  void declare(const Variable& variable);
  void declare_registers(const Variable& variable);
  void declare_labels(const std::vector<Statement>& statements);
  void lift_statements(const std::vector<Statement>& statements);
  void lift_instruction(const Instruction& instruction);
  void enter(const Label& label);
  void check(const Directive& directive);
  bool terminated() const { return ir_.GetInsertBlock()->getTerminator() != nullptr; }
  void continue_in(llvm::BasicBlock* block);

  ModuleLifter& module_;
  const Function& source_;
  llvm::Function& function_;
  llvm::IRBuilder<> ir_;
  Scopes scopes_;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::Value* condition_code_ = nullptr;
  uint64_t local_bytes_ = 0;  // of variables in .local
};

// promote() puts a lifted function into SSA form: registers become values, blocks that nothing
// reaches go, chains of blocks become one, and what is constant or unused is simplified away. Loads
// that nobody uses may be kept: where instructions were left out, the kernel does use them.
void promote(llvm::Function& function, bool keeps_loads);

}  // namespace sluice::ptx::lift_detail
