// The LLVM module of one kernel, with the functions and variables that it reaches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

class ModuleLifter {
 public:
  // Instructions in `left_out`, which must outlive this, are not lifted.
  ModuleLifter(llvm::LLVMContext& context, const Module& source, std::string_view kernel,
               const std::unordered_set<const Instruction*>& left_out);

  // lift() lifts the kernel and all it calls; it throws Refusal.
  std::unique_ptr<llvm::Module> lift();

  llvm::LLVMContext& context() { return context_; }
  llvm::Module& module() { return *module_; }
  const std::string& kernel() const { return kernel_; }
  bool leaves_out(const Instruction& instruction) const { return left_out_.contains(&instruction); }

  // function() is the LLVM function of a PTX function, declared at its first use and lifted
  // before lift() returns. A prototype without definition stays a declaration. Null where the
  // module has no function of that name.
  llvm::Function* function(std::string_view name);

  // prototype() is the PTX side of the same.
  const Function* prototype(std::string_view name) const;

  // address_taken_functions() lists the functions whose address the module takes, in its code or
  // in an initialiser: what a call through a pointer can reach.
  const std::vector<const Function*>& address_taken_functions();

  // variable() is a module-scope variable, null where there is none of that name.
  struct ModuleVariable {
    llvm::GlobalVariable* global;
    const Variable* declaration;
  };
  ModuleVariable variable(std::string_view name);

  // add_variable() adds storage for a variable of the spaces global, const and shared, whether
  // it stands at module scope or inside a body.
  llvm::GlobalVariable* add_variable(const Variable& declaration);

 private:
  const Variable* find_declaration(std::string_view name) const;
  void annotate_kernel(llvm::Function& kernel, const Function& source);

  llvm::LLVMContext& context_;
  const Module& source_;
  std::string kernel_;
  std::unordered_map<std::string_view, const Function*> prototypes_;  // definitions where there are
  const std::unordered_set<const Instruction*>& left_out_;
  std::unique_ptr<llvm::Module> module_;
  std::map<std::string, llvm::Function*, std::less<>> functions_;
  std::map<std::string, llvm::GlobalVariable*, std::less<>> variables_;
  std::vector<const Function*> pending_;
  std::optional<std::vector<const Function*>> address_taken_;
};

// place_of() names a place for errors: "kernel k, PTX line 41", or "kernel k, function f, PTX line
// 41" inside a function that the kernel calls.
std::string place_of(const ModuleLifter& module, const Function& function,
                     const Location& location);

// is_by_value() says whether a parameter is an aggregate, passed as `ptr byval`.
bool is_by_value(const Variable& parameter);

}  // namespace sluice::ptx::lift_detail
