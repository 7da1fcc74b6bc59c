// Random expressions over the indices, scalars and loop counters that are in scope.
#pragma once

#include <vector>

#include "dice.hpp"
#include "kernel_tree.hpp"

namespace sluice::analysis::random {

// Style says what a kernel may hold.
struct Style {
  bool affine = true;    // only what is affine or quasi-affine by construction
  bool data = false;     // values loaded from memory may decide guards, bounds and addresses
  bool extreme = false;  // numbers near the limits of their type
};

// make() builds one node; comparisons and their kin come out as predicates.
Expr make(Op op, Type type, std::vector<Expr> operands, int64_t value = 0, uint32_t index = 0);
Expr constant(Type type, int64_t value);
// converted() is `e` as another type, itself where that is its type.
Expr converted(Expr e, Type type);

class ExpressionGenerator {
 public:
  ExpressionGenerator(Kernel& kernel, Dice& dice, const Style& style)
      : kernel_(kernel), dice_(dice), style_(style) {}

  // Variables that may be read. Their scope is the generator's caller's to keep.
  std::vector<uint32_t>& scope() { return scope_; }

  // index() is an integer of any type that touches are placed by.
  Expr index(Type type, unsigned depth = 2);
  // bound() is a small number: a limit of a loop or a guard.
  Expr bound(Type type);
  Expr condition(unsigned depth = 1);
  // offset() is a multiple of `bytes`, of 64 bits.
  Expr offset(uint32_t bytes);
  // loaded() is a value from a data buffer; there must be one.
  Expr loaded(Type type);

  Type integer_type();

 private:
  Expr leaf(Type type);
  Expr global_index(Type type, unsigned dimension);
  Expr special(Special first, unsigned dimension, Type type);
  Expr scalar(Type type);
  Expr variable(Type type);
  Expr linear(Type type, unsigned depth);
  Expr quasi_affine(Type type, unsigned depth);
  Expr untamed(Type type, unsigned depth);
  Expr divisor(Type type);
  int64_t factor(Type type);

  Kernel& kernel_;
  Dice& dice_;
  Style style_;
  std::vector<uint32_t> scope_;
};

}  // namespace sluice::analysis::random
