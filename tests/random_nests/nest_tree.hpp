// Random nests of loops as trees. What the threads compute is what the PTX made from a tree says:
// a tree has no meaning of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::nests {

// Every buffer but the results has this many elements of 4 bytes.
inline constexpr int64_t elements = 8192;
// What the numbers of Buffer::numbers lie below; none is negative.
inline constexpr int64_t largest_number = 32;

enum class Buffer : uint8_t {
  numbers,    // s32, read only
  fractions,  // f32, read only
  sums,       // s32: element n is always given the same value, by however many threads
  products,   // f32: likewise
  columns,    // s32: element n belongs to the thread whose number is n modulo all threads
  results,    // s32: what each thread holds at its end, one row for each of its values
  tallies,    // u32: 16 that threads add to
  count,
};

enum class Op : uint8_t {
  constant,  // value
  scalar,    // index: of the launch's scalars
  variable,  // index
  loaded,    // of `numbers`; operand: element
  tid_x,
  thread,   // number in its block
  global,   // number among all threads
  block,    // ctaid.x
  threads,  // of a block
  all,      // threads of the grid
  add,
  subtract,
  multiply,
  minimum,
  maximum,
  bit_and,
  bit_xor,
  shift_right,
  remainder,  // by a positive number
  select,     // first < second ? third : fourth
};

struct Expression;
using Expr = std::shared_ptr<const Expression>;

// Expression is an s32.
struct Expression {
  Op op = Op::constant;
  int64_t value = 0;
  uint32_t index = 0;
  std::vector<Expr> operands;
};

enum class Comparison : uint8_t { less, less_equal, greater, greater_equal, equal, not_equal };

struct Condition {
  Comparison comparison = Comparison::less;
  Expr left, right;
};

enum class WarpOperation : uint8_t {
  shuffle_up,
  shuffle_down,
  shuffle_butterfly,
  shuffle_index,
  ballot,
  any,
  all,
  sum
};

struct Statement;
using Statements = std::vector<Statement>;

struct Statement {
  enum class Kind : uint8_t {
    assign,    // variable = left
    add,       // the thread's sum = sum * 5 + left
    add_real,  // the thread's real sum = sum * 0.5 + fractions[left]
    store,     // sums[left] or products[left], by `real`
    column,    // columns[left] = columns[left] * 3 + right
    tally,     // tallies[left & 15] += right
    branch,
    loop,
    leave_loop,
    next_round,
    leave,  // the thread ends, its sum written where `real`
    barrier,
    exchange,     // sum += what the thread `distance` further on has as left, through shared memory
    count_votes,  // variable = how many threads' condition holds
    warp,         // variable = what lanes of a warp make of left: all, or those of an arm
    split,        // a branch with a barrier at the end of both arms
    part,         // a branch in whose arms the lanes of each warp that took it know each other
  };
  Kind kind = Kind::add;
  uint32_t variable = 0;
  bool real = false;
  Expr left, right;
  Condition condition;
  Statements first, second;
  int64_t distance = 0;
  WarpOperation operation = WarpOperation::sum;

  // for (variable = left; variable `condition.comparison` condition.right; variable += right)
  // first; condition.left is null. `until`, where it has a left side, must not hold either.
  enum class Form : uint8_t { top_tested, guarded, at_least_once };
  Form form = Form::top_tested;
  Condition until;
  bool by_pointer = false;  // numbers[variable] is read through an address of its own
};

struct Nest {
  uint64_t seed = 0;
  Dim3 grid, block;
  std::vector<int32_t> scalars;
  uint32_t variables = 0;
  uint32_t warp_mask = 0;  // the lanes of each warp; 0 where they are not equally many
  bool flushes = false;    // its floats are about the least normal one, and .ftz
  Statements body;
};

}  // namespace sluice::nests
