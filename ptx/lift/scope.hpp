// What names mean inside a function body.
#pragma once

#include <cstdint>
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
    return tables_.back().symbols[name] = std::move(symbol);
  }

  // declare_range() does so for `count` names that end in a number, from 0. It costs what one name
  // does: each becomes a symbol when it is looked for.
  void declare_range(const std::string& name, uint32_t count, const Symbol& symbol) {
    tables_.back().ranges[name] = {count, symbol};
  }

  // of_function() is a symbol of the whole function, made where there is none.
  Symbol& of_function(const std::string& name) { return tables_.front().symbols[name]; }

  // find() returns the innermost symbol of that name, or nullptr.
  Symbol* find(std::string_view name) {
    for (auto table = tables_.rbegin(); table != tables_.rend(); ++table) {
      auto found = table->symbols.find(name);
      if (found != table->symbols.end()) return &found->second;
      if (const Range* range = range_of(*table, name)) {
        return &table->symbols.emplace(name, range->symbol).first->second;
      }
    }
    return nullptr;
  }

 private:
  struct Range {
    uint32_t count = 0;
    Symbol symbol;
  };
  struct Table {
    std::map<std::string, Symbol, std::less<>> symbols;
    std::map<std::string, Range, std::less<>> ranges;
  };

  static constexpr uint64_t most_places = 10'000'000'000;  // of a number of 32 bits

  // The digits at a name's end may be its number, or part of what the range is called.
  static const Range* range_of(const Table& table, std::string_view name) {
    uint64_t number = 0;
    uint64_t place = 1;
    for (size_t at = name.size(); at-- > 1 && name[at] >= '0' && name[at] <= '9';) {
      const auto digit = static_cast<uint64_t>(name[at] - '0');
      number += digit * place;
      place *= 10;
      if (number > UINT32_MAX || place > most_places) return nullptr;
      const bool leads_with_zero = digit == 0 && at + 1 != name.size();
      const auto found = table.ranges.find(name.substr(0, at));
      if (!leads_with_zero && found != table.ranges.end() && number < found->second.count)
        return &found->second;
    }
    return nullptr;
  }

  std::vector<Table> tables_;
};

}  // namespace sluice::ptx::lift_detail
