// What names mean inside a function body.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Instructions.h>

#include "ptx/syntax.hpp"

namespace sluice::ptx::lift_detail {

// Symbol is a register, a variable or a label of a function.
struct Symbol {
  enum class Kind {
    reg,     // `slot` holds its value
    memory,  // `pointer` is its address in `space`
    param,   // a .param variable: `pointer` is its storage
    label,   // `block` is where it leads; `targets` the list of a .branchtargets
  };
  Kind kind = Kind::reg;
  ScalarType type = ScalarType::none;  // of a register; of a scalar parameter
  StateSpace space = StateSpace::none;
  llvm::Type* value_type = nullptr;  // of a register or a scalar parameter
  llvm::Value* pointer = nullptr;    // null for a register that was never used
  uint64_t bytes = 0;                // of a variable
  llvm::BasicBlock* block = nullptr;
  std::vector<std::string> targets;
};

// Scopes is the stack of name tables of nested blocks, innermost last.
class Scopes {
 public:
  void push() { tables_.emplace_back(); }
  void pop() { tables_.pop_back(); }

  // declare() adds a name to the innermost scope and returns its symbol; a second declaration
  // of a name in one scope replaces the first.
  Symbol& declare(const std::string& name, Symbol symbol) {
    return tables_.back()[name] = std::move(symbol);
  }

  // find() returns the innermost symbol of that name, or nullptr.
  Symbol* find(std::string_view name) {
    for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) {
      auto found = table->find(name);
      if (found != table->end()) return &found->second;
    }
    return nullptr;
  }

 private:
  std::vector<std::map<std::string, Symbol, std::less<>>> tables_;
};

}  // namespace sluice::ptx::lift_detail
