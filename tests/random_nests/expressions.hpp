// Random expressions, each with what is known of its value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/random_kernels/dice.hpp"
#include "nest_tree.hpp"

namespace sluice::nests {

using Dice = analysis::random::Dice;

// Value is an expression whose value lies from `low` to `high`. A uniform one is the same for all
// threads of a block that run side by side; an owned one is the thread's own number modulo all.
struct Value {
  Expr expression;
  int64_t low = 0, high = 0;
  bool uniform = false;
  bool owned = false;
};

// Variable is what is known of a variable where it may be read.
struct Variable {
  uint32_t index = 0;
  int64_t low = INT32_MIN, high = INT32_MAX;
  bool uniform = false;
  bool owned = false;
};

class Expressions {
 public:
  Expressions(const Nest& nest, Dice& dice) : nest_(nest), dice_(dice) {}

  // What may be read now; the generator pushes and pops.
  std::vector<Variable>& scope() { return scope_; }

  Value constant(int64_t value) const;
  Value leaf(Op op) const;  // one of tid_x to all
  Value scalar(uint32_t index) const;
  static Value variable(const Variable& variable);
  Value combine(Op op, const Value& a, const Value& b) const;

  // any() is of any kind, uniform where that is asked for; `depth` operations deep at most.
  Value any(bool uniform, unsigned depth = 2);
  // small() lies from 0 to `most`.
  Value small(bool uniform, int64_t most);
  // element() is an element of a buffer: often one next to the neighbouring thread's.
  Value element(bool uniform);
  Condition condition(bool uniform);
  // One that holds for whole warps.
  Condition condition_of_warp();

  int64_t all_threads() const { return int64_t(nest_.grid.count() * nest_.block.count()); }

 private:
  Value any_leaf(bool uniform);
  Value within_buffer(Value value) const;

  const Nest& nest_;
  Dice& dice_;
  std::vector<Variable> scope_;
};

}  // namespace sluice::nests
