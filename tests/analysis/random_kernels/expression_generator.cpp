#include "expression_generator.hpp"

#include <utility>

namespace sluice::analysis::random {

Expr make(Op op, Type type, std::vector<Expr> operands, int64_t value, uint32_t index) {
  if (op >= Op::less) type = Type::predicate;
  return std::make_shared<Expression>(Expression{op, type, value, index, std::move(operands)});
}

Expr constant(Type type, int64_t value) {
  // As the text has it: unsigned numbers are written without a sign.
  if (type == Type::u32) value = int64_t(uint32_t(value));
  if (type == Type::s32) value = int32_t(value);
  if (type == Type::u64 && value < 0) value = -value;
  return make(Op::constant, type, {}, value);
}

Expr converted(Expr e, Type type) {
  if (e->type == type) return e;
  return make(Op::convert, type, {std::move(e)});
}

Type ExpressionGenerator::integer_type() {
  if (dice_.chance(60)) return Type::s32;
  return dice_.one_of({Type::u32, Type::u32, Type::s64, Type::u64});
}

Expr ExpressionGenerator::special(Special first, unsigned dimension, Type type) {
  return converted(make(Op::special, Type::u32, {}, 0, uint32_t(first) + dimension), type);
}

Expr ExpressionGenerator::global_index(Type type, unsigned dimension) {
  const Type narrow = is_signed(type) ? Type::s32 : Type::u32;
  Expr product = make(
      Op::multiply, narrow,
      {special(Special::ctaid_x, dimension, narrow), special(Special::ntid_x, dimension, narrow)});
  return converted(make(Op::add, narrow, {product, special(Special::tid_x, dimension, narrow)}),
                   type);
}

Expr ExpressionGenerator::scalar(Type type) {
  std::vector<uint32_t> scalars;
  for (uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
    if (!kernel_.parameters[i].pointer) scalars.push_back(i);
  }
  if (scalars.empty()) return constant(type, dice_.between(1, 9));
  const uint32_t index = scalars[dice_.bits() % scalars.size()];
  return converted(make(Op::scalar, kernel_.parameters[index].type, {}, 0, index), type);
}

Expr ExpressionGenerator::variable(Type type) {
  if (scope_.empty()) return scalar(type);
  const uint32_t index = scope_[dice_.bits() % scope_.size()];
  return converted(make(Op::variable, kernel_.variables[index], {}, 0, index), type);
}

Expr ExpressionGenerator::loaded(Type type) {
  std::vector<uint32_t> buffers;
  for (uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
    if (kernel_.parameters[i].data) buffers.push_back(i);
  }
  const uint32_t buffer = buffers[dice_.bits() % buffers.size()];
  const uint32_t bytes = dice_.one_of({4, 4, 4, 1});
  const bool was_data = std::exchange(style_.data, false);
  Expr place = offset(bytes);
  style_.data = was_data;
  kernel_.data_dependent = true;
  const Type as = bytes == 4 && dice_.chance(50) ? Type::s32 : Type::u32;
  return converted(make(Op::loaded, as, {place}, bytes, buffer), type);
}

// Each dimension of an index whose extent is one is a constant, so mostly x.
Expr ExpressionGenerator::leaf(Type type) {
  const unsigned dimension = kernel_.block.y * kernel_.grid.y > 1 && dice_.chance(40)   ? 1
                             : kernel_.block.z * kernel_.grid.z > 1 && dice_.chance(30) ? 2
                                                                                        : 0;
  switch (dice_.between(0, 9)) {
    case 0:
    case 1:
    case 2:
      return global_index(type, dimension);
    case 3:
      return special(Special::tid_x, dimension, type);
    case 4:
      return special(Special::ctaid_x, dimension, type);
    case 5:
      return scalar(type);
    case 6:
      return dice_.chance(50) ? special(Special::ntid_x, dimension, type)
                              : special(Special::nctaid_x, dimension, type);
    default:
      return variable(type);
  }
}

int64_t ExpressionGenerator::factor(Type type) {
  if (style_.extreme && dice_.chance(15)) {
    return dice_.one_of<int64_t>({0x10000, 0x10001, 0x1000000, 0x7fffffff, 0x40000000, -0x8000});
  }
  if (is_signed(type) && dice_.chance(20)) return -dice_.between(1, 5);
  return dice_.one_of<int64_t>({1, 1, 2, 3, 4, 5, 8, 16, 17, 32});
}

Expr ExpressionGenerator::linear(Type type, unsigned depth) {
  Expr sum;
  const int64_t terms = dice_.between(1, 3);
  for (int64_t i = 0; i < terms; ++i) {
    Expr part = depth > 0 && dice_.chance(30) ? index(type, depth - 1) : leaf(type);
    if (const int64_t times = factor(type); times != 1) {
      if (times > 0 && (times & (times - 1)) == 0 && dice_.chance(50)) {
        part = make(Op::shift_left, type,
                    {part, constant(Type::u32, __builtin_ctzll(uint64_t(times)))});
      } else if (dice_.chance(20)) {
        part = make(Op::multiply, type, {part, scalar(type)});
      } else if (bits_of(type) == 64 && dice_.chance(30) && bits_of(part->type) == 32) {
        part = make(Op::multiply_wide, type, {part, constant(part->type, times)});
      } else {
        part = make(Op::multiply, type, {part, constant(type, times)});
      }
    }
    if (!sum) {
      sum = part;
    } else if (is_signed(type) && dice_.chance(20)) {
      sum = make(Op::subtract, type, {sum, part});
    } else {
      sum = make(Op::add, type, {part, sum});
    }
  }
  if (dice_.chance(30)) {
    const int64_t number = is_signed(type) ? dice_.between(-9, 20) : dice_.between(0, 20);
    sum = make(Op::add, type, {sum, constant(type, number)});
  }
  return sum;
}

Expr ExpressionGenerator::divisor(Type type) {
  return constant(type, dice_.one_of<int64_t>({2, 3, 4, 5, 7, 8, 10, 16}));
}

Expr ExpressionGenerator::quasi_affine(Type type, unsigned depth) {
  Expr inner = linear(type, depth > 0 ? depth - 1 : 0);
  switch (dice_.between(0, 8)) {
    case 0:
      return make(Op::divide, type, {inner, divisor(type)});
    case 1:
      return make(Op::remainder, type, {inner, divisor(type)});
    case 2:
      return make(Op::shift_right, type, {inner, constant(Type::u32, dice_.between(1, 4))});
    case 3:
      return make(Op::bit_and, type, {inner, constant(type, (1 << dice_.between(1, 5)) - 1)});
    case 4:
      return make(Op::minimum, type, {inner, bound(type)});
    case 5:
      return make(Op::maximum, type, {inner, bound(type)});
    case 6:
      return is_signed(type) ? make(Op::absolute, type, {inner})
                             : make(Op::remainder, type, {inner, divisor(type)});
    case 7:
      return is_signed(type) ? make(Op::negate, type, {inner})
                             : make(Op::divide, type, {inner, divisor(type)});
    default:
      return make(Op::select, type, {condition(0), inner, linear(type, 0)});
  }
}

// untamed() is what no affine expression says.
Expr ExpressionGenerator::untamed(Type type, unsigned depth) {
  const unsigned below = depth > 0 ? depth - 1 : 0;
  Expr left = index(type, below);
  switch (dice_.between(0, 9)) {
    case 0:
    case 1:
      kernel_.affine = false;
      return make(Op::multiply, type, {left, leaf(type)});
    case 2:
      kernel_.affine = false;
      return make(Op::bit_xor, type, {left, leaf(type)});
    case 3:
      kernel_.affine = false;
      return make(Op::bit_or, type, {left, constant(type, dice_.between(0, 255))});
    case 4:
      kernel_.affine = false;
      return make(Op::bit_and, type, {left, leaf(type)});
    case 5:
      kernel_.affine = false;
      return make(Op::shift_left, type,
                  {left, make(Op::bit_and, Type::u32, {leaf(Type::u32), constant(Type::u32, 3)})});
    case 6:
      kernel_.affine = false;
      return make(Op::bit_not, type, {left});
    case 7:
      if (!is_signed(type)) break;
      return make(Op::divide, type, {left, constant(type, -dice_.between(2, 7))});
    case 8:
      // Through a narrower type and back.
      return converted(converted(left, dice_.one_of({Type::s32, Type::u32})), type);
    default:
      break;
  }
  if (!style_.extreme) return left;
  return make(
      Op::add, type,
      {left, constant(type, dice_.one_of<int64_t>({0x7fffffff, 0x7ffffff0, 0x40000000, 0x3fffffff,
                                                   -0x7fffffff, 0x100000000, 0xfffffff0}))});
}

Expr ExpressionGenerator::index(Type type, unsigned depth) {
  if (style_.data && dice_.chance(12)) return loaded(type);
  if (!style_.affine && dice_.chance(35)) return untamed(type, depth);
  if (dice_.chance(30)) return quasi_affine(type, depth);
  return linear(type, depth);
}

Expr ExpressionGenerator::bound(Type type) {
  if (dice_.chance(40)) return constant(type, dice_.between(1, 24));
  if (dice_.chance(60)) return scalar(type);
  return linear(type, 0);
}

Expr ExpressionGenerator::condition(unsigned depth) {
  if (depth > 0 && dice_.chance(25)) {
    return make(dice_.one_of({Op::both, Op::both, Op::either}), Type::predicate,
                {condition(depth - 1), condition(depth - 1)});
  }
  const Type type = integer_type();
  if (style_.data && dice_.chance(30)) {
    return make(dice_.one_of({Op::less, Op::greater, Op::equal}), Type::predicate,
                {loaded(type), constant(type, dice_.between(0, 60))});
  }
  if (dice_.chance(12)) {
    return make(dice_.one_of({Op::equal, Op::not_equal}), Type::predicate,
                {make(Op::remainder, type, {leaf(type), divisor(type)}), constant(type, 0)});
  }
  const Op op = dice_.one_of({Op::less, Op::less, Op::less_equal, Op::greater, Op::greater_equal,
                              Op::equal, Op::not_equal});
  return make(op, Type::predicate, {linear(type, 0), bound(type)});
}

Expr ExpressionGenerator::offset(uint32_t bytes) {
  const Type type = integer_type();
  Expr element = index(type);
  const Type wide = is_signed(type) ? Type::s64 : Type::u64;
  if (bytes == 1) return converted(element, wide);
  if (bits_of(type) == 32 && dice_.chance(70)) {
    return make(Op::multiply_wide, wide, {element, constant(type, bytes)});
  }
  // Products in 32 bits wrap earlier.
  if (dice_.chance(60)) element = converted(element, wide);
  const Type as = element->type;
  Expr scaled = dice_.chance(50) ? make(Op::multiply, as, {element, constant(as, bytes)})
                                 : make(Op::shift_left, as,
                                        {element, constant(Type::u32, __builtin_ctz(bytes))});
  return converted(scaled, wide);
}

}  // namespace sluice::analysis::random
