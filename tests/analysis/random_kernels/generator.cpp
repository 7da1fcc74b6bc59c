#include "generator.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "expression_generator.hpp"

namespace sluice::analysis::random {
namespace {

constexpr int most_accesses = 6;

class Generator {
 public:
  explicit Generator(uint64_t seed) : dice_(seed) {
    kernel_.seed = seed;
    const int64_t kind = dice_.between(0, 99);
    style_.affine = kind < 65 || dice_.chance(30);
    style_.data = kind >= 85;
    style_.extreme = kind >= 65 && kind < 85 && dice_.chance(60);
  }

  Kernel run() {
    choose_shape();
    choose_parameters();
    ExpressionGenerator expressions(kernel_, dice_, style_);
    expressions_ = &expressions;
    while (accesses_ == 0)
      kernel_.body = statements(0);
    kernel_.body.push_back(store_of_sum());
    return std::move(kernel_);
  }

 private:
  void choose_shape() {
    const int64_t dimensions = dice_.one_of<int64_t>({1, 1, 1, 2, 2, 3});
    Dim3 &grid = kernel_.grid, &block = kernel_.block;
    if (dimensions == 1) {
      block = {uint32_t(dice_.between(4, 64))};
      grid = {uint32_t(dice_.between(1, 12))};
    } else if (dimensions == 2) {
      block = {uint32_t(dice_.between(2, 8)), uint32_t(dice_.between(1, 6))};
      grid = {uint32_t(dice_.between(1, 4)), uint32_t(dice_.between(1, 3))};
    } else {
      block = {uint32_t(dice_.between(2, 5)), uint32_t(dice_.between(1, 3)),
               uint32_t(dice_.between(1, 3))};
      grid = {uint32_t(dice_.between(1, 3)), uint32_t(dice_.between(1, 2)),
              uint32_t(dice_.between(1, 2))};
    }
  }

  void choose_parameters() {
    const int64_t pointers = dice_.between(1, 3), scalars = dice_.between(0, 3);
    std::vector<Parameter>& all = kernel_.parameters;
    for (int64_t i = 0; i < pointers; ++i) {
      Parameter parameter;
      parameter.pointer = true;
      parameter.generic = dice_.chance(8);
      all.push_back(parameter);
    }
    Parameter sink;
    sink.pointer = sink.sink = true;
    all.push_back(sink);
    if (style_.data) {
      Parameter data;
      data.pointer = data.data = true;
      all.push_back(data);
    }
    for (int64_t i = 0; i < scalars; ++i) {
      Parameter parameter;
      parameter.type = dice_.one_of({Type::s32, Type::s32, Type::u32, Type::s64, Type::u64});
      const bool wild = style_.extreme && dice_.chance(30);
      const int64_t value = wild               ? int64_t(dice_.bits())
                            : dice_.chance(20) ? -dice_.between(1, 6)
                                               : dice_.between(1, 30);
      parameter.value = value_of(parameter.type, value);
      all.push_back(parameter);
    }
    for (size_t i = all.size() - 1; i > 0; --i)
      std::swap(all[i], all[dice_.bits() % (i + 1)]);
    lay_out();
  }

  static uint64_t value_of(Type type, int64_t value) {
    if (!is_signed(type) && value < 0 && value > -100) value = -value;
    return bits_of(type) == 64 ? uint64_t(value) : uint64_t(uint32_t(value));
  }

  // lay_out() names the parameters and finds their places, some as the fields of a struct.
  void lay_out() {
    std::vector<Parameter>& all = kernel_.parameters;
    const bool with_struct = all.size() > 2 && dice_.chance(15);
    const size_t first = with_struct ? dice_.bits() % (all.size() - 1) : all.size();
    const size_t end = with_struct ? first + 2 : all.size();
    uint32_t offset = 0, field = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const uint32_t bytes = all[i].pointer ? 8 : bits_of(all[i].type) / 8;
      const bool inside = i >= first && i < end;
      const uint32_t alignment = i == first ? 8 : bytes;
      offset = (offset + alignment - 1) / alignment * alignment;
      if (i == first) field = offset;
      all[i].name = fmt::format("p{}", inside ? first : i);
      all[i].offset = offset;
      if (inside) all[i].field = offset - field;
      offset += bytes;
      if (inside && i + 1 == end) {
        offset = (offset + 7) / 8 * 8;
        kernel_.structs.push_back({all[i].name, offset - field});
      }
    }
  }

  Statements statements(unsigned depth) {
    Statements all;
    const int64_t count = dice_.between(1, depth == 0 ? 4 : 2);
    for (int64_t i = 0; i < count; ++i)
      all.push_back(statement(depth));
    return all;
  }

  Statement statement(unsigned depth) {
    const int64_t kind = dice_.between(0, 99);
    if (depth < 3 && accesses_ < most_accesses) {
      if (kind < 22) return branch(depth);
      if (kind < 44 && loops_ < 2) return loop(depth);
    }
    if (kind >= 96) return leave();
    if (kind >= 92 && depth == 0 && !left_) return {.kind = Statement::Kind::barrier};
    if (kind >= 86) return assign(depth);
    return access();
  }

  Statement access() {
    ++accesses_;
    Statement statement;
    Access& access = statement.access;
    std::vector<uint32_t> pointers;
    for (uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
      if (kernel_.parameters[i].pointer && !kernel_.parameters[i].sink) pointers.push_back(i);
    }
    access.pointer = pointers[dice_.bits() % pointers.size()];
    access.kind = dice_.one_of({AccessKind::load, AccessKind::load, AccessKind::load,
                                AccessKind::store, AccessKind::store, AccessKind::store,
                                AccessKind::store, AccessKind::reduce, AccessKind::atomic});
    if (kernel_.parameters[access.pointer].data) access.kind = AccessKind::load;
    access.bytes = dice_.one_of({1u, 2u, 4u, 4u, 4u, 8u});
    if (access.kind == AccessKind::reduce || access.kind == AccessKind::atomic) {
      access.bytes = dice_.one_of({4u, 8u});
    } else if (dice_.chance(15)) {
      access.lanes = access.bytes == 8 ? 2 : dice_.one_of({2u, 4u});
    }
    const uint32_t whole = access.bytes * access.lanes;
    access.offset = expressions_->offset(whole);
    if (dice_.chance(20)) access.immediate = int64_t(whole) * dice_.between(-4, 8);
    return statement;
  }

  // store_of_sum() uses what was read: a read whose value nobody uses may be left out.
  Statement store_of_sum() const {
    Statement statement;
    statement.access.kind = AccessKind::store;
    statement.access.offset = constant(Type::s64, 0);
    while (!kernel_.parameters[statement.access.pointer].sink)
      ++statement.access.pointer;
    return statement;
  }

  Statement branch(unsigned depth) {
    Statement statement;
    statement.kind = Statement::Kind::branch;
    statement.value = expressions_->condition();
    if (dice_.chance(30)) {
      statement.first.push_back(access());
      statement.predicated = !style_.data;
      return statement;
    }
    statement.first = statements(depth + 1);
    if (dice_.chance(35)) statement.second = statements(depth + 1);
    return statement;
  }

  Statement loop(unsigned depth) {
    ++loops_;
    Statement statement;
    statement.kind = Statement::Kind::loop;
    const Type type = expressions_->integer_type();
    statement.bottom_tested = dice_.chance(50);
    statement.compare = dice_.one_of(
        {Op::less, Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::not_equal});
    const bool down = statement.compare == Op::greater || statement.compare == Op::greater_equal;
    const int64_t step =
        statement.compare == Op::not_equal ? 1 : dice_.one_of<int64_t>({1, 1, 1, 2, 3, 5, 16});
    Expr low = small_start(type);
    Expr high =
        style_.data && dice_.chance(25) ? expressions_->loaded(type) : loop_bound(type, low);
    if (statement.compare == Op::not_equal) {
      high = make(Op::add, type, {low, constant(type, dice_.between(0, 12))});
    }
    statement.start = down ? high : low;
    statement.bound = down ? low : high;
    statement.step = constant(type, down ? -step : step);
    if (down && type == Type::u64) statement.step = make(Op::constant, type, {}, -step);
    statement.variable = uint32_t(kernel_.variables.size());
    kernel_.variables.push_back(type);
    expressions_->scope().push_back(statement.variable);
    ++inside_loops_;
    statement.first = statements(depth + 1);
    --inside_loops_;
    expressions_->scope().pop_back();
    return statement;
  }

  Expr small_start(Type type) {
    if (style_.extreme && dice_.chance(30)) {
      return constant(type, dice_.one_of<int64_t>({0x7ffffff8, 0xfffffff8, 0x7fffffff, -5}));
    }
    if (dice_.chance(60)) return constant(type, dice_.between(0, 3));
    return expressions_->bound(type);
  }

  Expr loop_bound(Type type, const Expr& low) {
    if (dice_.chance(30)) return make(Op::add, type, {low, constant(type, dice_.between(1, 10))});
    return expressions_->bound(type);
  }

  Statement leave() {
    left_ = true;
    // A loop that is left early has no affine bounds.
    if (inside_loops_ > 0) kernel_.affine = false;
    Statement statement;
    statement.kind = Statement::Kind::leave;
    statement.value = expressions_->condition();
    return statement;
  }

  // assign() sets a variable, a new one at the outermost level. One that is set anew in branches
  // or loops is no affine expression in general.
  Statement assign(unsigned depth) {
    Statement statement;
    statement.kind = Statement::Kind::assign;
    if (depth == 0 || assigned_.empty()) {
      const Type type = expressions_->integer_type();
      statement.value = expressions_->index(type);
      statement.variable = uint32_t(kernel_.variables.size());
      kernel_.variables.push_back(type);
      if (depth == 0) {
        expressions_->scope().push_back(statement.variable);
        assigned_.push_back(statement.variable);
      }
      return statement;
    }
    statement.variable = assigned_[dice_.bits() % assigned_.size()];
    const Type type = kernel_.variables[statement.variable];
    Expr old = make(Op::variable, type, {}, 0, statement.variable);
    statement.value = dice_.chance(60)
                          ? make(Op::add, type, {old, constant(type, dice_.between(1, 6))})
                          : expressions_->index(type);
    kernel_.affine = false;
    return statement;
  }

  Dice dice_;
  Kernel kernel_;
  Style style_;
  ExpressionGenerator* expressions_ = nullptr;
  std::vector<uint32_t> assigned_;
  int accesses_ = 0;
  int loops_ = 0;
  int inside_loops_ = 0;
  bool left_ = false;
};

}  // namespace

Kernel generate(uint64_t seed) {
  return Generator(seed).run();
}

void vary(Kernel& kernel, uint64_t seed) {
  Dice dice(seed);
  for (Parameter& parameter : kernel.parameters) {
    if (parameter.pointer || dice.chance(40)) continue;
    const auto value = int64_t(parameter.value) + dice.between(-3, 3);
    if (!is_signed(parameter.type) && value < 0) continue;
    parameter.value = bits_of(parameter.type) == 64 ? uint64_t(value) : uint64_t(uint32_t(value));
  }
  if (dice.chance(30)) kernel.grid.x = uint32_t(dice.between(1, 5));
}

}  // namespace sluice::analysis::random
