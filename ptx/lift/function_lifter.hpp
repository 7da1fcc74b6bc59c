// One PTX function body as LLVM IR.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "ptx/lift/function_frame.hpp"
#include "ptx/lift/module_lifter.hpp"
#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// FunctionLifter walks a body statement by statement.
class FunctionLifter {
 public:
  FunctionLifter(ModuleLifter& module, const Function& source, llvm::Function& function);

  // lift() fills the function; it throws Refusal.
  void lift();

  llvm::IRBuilder<>& ir() { return ir_; }
  ModuleLifter& module() { return module_; }
  const Function& source() const { return source_; }
  FunctionFrame& frame() { return frame_; }

  llvm::BasicBlock* new_block(const llvm::Twine& name);

  // start() goes on in a block, placed after the current one so that blocks keep PTX order.
  void start(llvm::BasicBlock* block);

  // emit_return() returns from the function with what its result parameter holds.
  llvm::Instruction* emit_return();

 private:
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
  FunctionFrame frame_;
};

// promote() puts a lifted function into SSA form: registers become values, blocks that nothing
// reaches go, chains of blocks become one, and what is constant or unused is simplified away. Loads
// that nobody uses may be kept: where instructions were left out, the kernel does use them.
void promote(llvm::Function& function, bool keeps_loads);

}  // namespace sluice::ptx::lift_detail
