// Random kernels as trees of expressions and statements. The text of a kernel and what its threads
// touch are both made from the tree, each by code that knows nothing of the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/dim3.hpp"

namespace sluice::analysis::random {

enum class Type : uint8_t { predicate, s32, u32, s64, u64 };

constexpr bool is_signed(Type type) {
  return type == Type::s32 || type == Type::s64;
}
constexpr unsigned bits_of(Type type) {
  return type == Type::s64 || type == Type::u64 ? 64 : 32;
}

// Special is a special register of PTX; x, y and z follow each other.
enum class Special : uint8_t { tid_x, ctaid_x = 3, ntid_x = 6, nctaid_x = 9, count = 12 };

enum class Op : uint8_t {
  constant,  // value
  special,   // index: a Special
  scalar,    // index: a parameter
  variable,  // index: a variable
  loaded,    // index: a pointer parameter; operand: offset in bytes; value: bytes (1 or 4)
  convert,   // operand of any integer type, extended or cut
  add,
  subtract,
  multiply,
  multiply_wide,  // operands of 32 bits, result of 64
  divide,
  remainder,
  shift_left,  // second operand is u32 and clamped to the width, as PTX does
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  minimum,
  maximum,
  negate,
  absolute,
  select,  // predicate, then, else
  less,    // comparisons: operands of one type, result a predicate
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,  // of predicates
  either,
};

struct Expression;
using Expr = std::shared_ptr<const Expression>;

struct Expression {
  Op op = Op::constant;
  Type type = Type::s32;
  int64_t value = 0;
  uint32_t index = 0;
  std::vector<Expr> operands;
};

// Parameter is one argument of the kernel, or a field of a struct passed by value.
struct Parameter {
  std::string name;     // of the .param
  uint32_t field = 0;   // offset in the .param
  uint32_t offset = 0;  // offset in the parameter block
  bool pointer = false;
  bool generic = false;   // pointer: accessed by generic addresses
  bool data = false;      // pointer: only read, and its content decides what is touched
  bool sink = false;      // pointer: what was read is written here
  Type type = Type::u64;  // scalar
  uint64_t value = 0;     // scalar: of this launch
};

enum class AccessKind : uint8_t { load, store, reduce, atomic };

// Access touches `lanes` elements of `bytes` each at a pointer + offset + immediate. All addresses
// are multiples of lanes * bytes.
struct Access {
  AccessKind kind = AccessKind::load;
  uint32_t pointer = 0;  // a parameter
  uint32_t bytes = 4;
  uint32_t lanes = 1;
  Expr offset;  // s64 or u64, in bytes
  int64_t immediate = 0;
};

struct Statement;
using Statements = std::vector<Statement>;

struct Statement {
  enum class Kind : uint8_t {
    access,
    assign,  // variable = value
    branch,  // if (value) first else second
    loop,    // for (variable = start; variable `compare` bound; variable += step) first
    leave,   // if (value) the thread ends
    barrier,
  };
  Kind kind = Kind::access;
  Access access;
  uint32_t variable = 0;
  Expr value;
  Statements first, second;
  Expr start, bound, step;
  Op compare = Op::less;
  bool bottom_tested = false;  // the same loop as compilers write it
  bool predicated = false;     // branch around one access, written as a guard of the instruction
};

struct Struct {
  std::string name;
  uint32_t bytes = 0;
};

struct Kernel {
  uint64_t seed = 0;
  std::vector<Parameter> parameters;
  std::vector<Struct> structs;  // parameters with a field of the same name are its fields
  std::vector<Type> variables;
  Statements body;
  Dim3 grid, block;
  // What the generator knows: whether every address, guard and bound is affine or quasi-affine in
  // the indices, and whether values loaded from memory decide anything.
  bool affine = true;
  bool data_dependent = false;
};

}  // namespace sluice::analysis::random
