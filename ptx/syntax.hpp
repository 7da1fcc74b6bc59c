// The syntax tree of PTX: what the parser makes, the printer prints, the lifter and the rewriter
// read. It keeps everything that has a meaning and nothing of the layout, so that printing a
// parsed module and parsing that text again gives an equal tree.
// Source: PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables" and "Directives".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptx/instruction_table.hpp"

namespace sluice::ptx {

// Location is a place in the PTX text, both counted from 1. Trees compare equal whatever their
// locations are.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const Location&, const Location&) { return true; }
};

enum class StateSpace { none, reg, sreg, constant, global, local, param, shared, tex };

// ScalarType is a fundamental type, without its leading dot. `none` is for what has no type.
enum class ScalarType {
  none,
  b1,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2,
  u4,
  s4,
  pred,
  texref,
  samplerref,
  surfref,
};

// size_in_bytes() is the size of one element in memory; 0 for none, pred and opaque types.
uint32_t size_in_bytes(ScalarType type);
// name() is the type as PTX spells it, without the dot ("f32").
std::string_view name(ScalarType type);
std::string_view name(StateSpace space);
std::optional<ScalarType> scalar_type(std::string_view name);
// is_reference() is true of textures, samplers and surfaces that are declared as such.
bool is_reference(ScalarType type);

struct Operand;

// Identifier is a register, variable, label, function or special register, with its component
// where it has one: `%r1`, `buffer`, `%tid.x` (name "%tid", component "x").
struct Identifier {
  std::string name;
  std::string component;
  friend bool operator==(const Identifier&, const Identifier&) = default;
};

// IntegerLiteral holds the low 64 bits of a (possibly negated) integer constant expression.
struct IntegerLiteral {
  uint64_t bits = 0;
  bool is_unsigned = false;  // written with a trailing U, or not representable as s64
  friend bool operator==(const IntegerLiteral&, const IntegerLiteral&) = default;
};

// FloatLiteral holds the bits of `0fXXXXXXXX` (width 32), `0dXXXXXXXXXXXXXXXX` or decimal (64).
struct FloatLiteral {
  uint64_t bits = 0;
  uint32_t width = 64;
  friend bool operator==(const FloatLiteral&, const FloatLiteral&) = default;
};

// Offset is `name+8`, an address constant. In an initialiser it may be `generic(name)+8`, the
// address in the generic space, or `0xFF00(name+8)`, the bytes of it that the mask selects.
struct Offset {
  std::string name;
  int64_t bytes = 0;
  bool is_generic = false;
  uint64_t mask = 0;  // 0 where no mask is written
  friend bool operator==(const Offset&, const Offset&) = default;
};

// Address is `[base+bytes]`; a purely numeric address has an empty base. `base` is a register or
// a variable.
struct Address {
  std::string base;
  int64_t bytes = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

// VectorOperand is `{a, b, ...}`, ListOperand `(a, b, ...)` of a call, PairOperand `p|q`,
// NotOperand `!p`. BracketedList is `[a, {b, c}]`, as texture instructions write.
struct VectorOperand {
  std::vector<Operand> elements;
  friend bool operator==(const VectorOperand&, const VectorOperand&);
};
struct ListOperand {
  std::vector<Operand> elements;
  friend bool operator==(const ListOperand&, const ListOperand&);
};
struct PairOperand {
  std::string first;
  std::string second;
  friend bool operator==(const PairOperand&, const PairOperand&) = default;
};
struct NotOperand {
  Identifier predicate;
  friend bool operator==(const NotOperand&, const NotOperand&) = default;
};
struct BracketedList {
  std::vector<Operand> elements;
  friend bool operator==(const BracketedList&, const BracketedList&);
};

struct Operand {
  std::variant<Identifier, IntegerLiteral, FloatLiteral, Offset, Address, VectorOperand,
               ListOperand, PairOperand, NotOperand, BracketedList>
      value;
  friend bool operator==(const Operand&, const Operand&) = default;
};
inline bool operator==(const VectorOperand& a, const VectorOperand& b) {
  return a.elements == b.elements;
}
inline bool operator==(const ListOperand& a, const ListOperand& b) {
  return a.elements == b.elements;
}
inline bool operator==(const BracketedList& a, const BracketedList& b) {
  return a.elements == b.elements;
}

// Guard is `@p` or `@!p` before an instruction.
struct Guard {
  std::string predicate;
  bool negated = false;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// Instruction is `@guard opcode.modifier.modifier operand, operand;`: modifiers are kept as written
// ({"global", "v4", "f32"}), without dots.
struct Instruction {
  std::optional<Guard> guard;
  Opcode opcode = Opcode::unknown;
  std::string unknown_opcode;  // as written, where the instruction table lacks it
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  Location location;

  // info() is the opcode's row in the table, opcode_name() its name as PTX has it.
  const InstructionInfo& info() const { return info_of(opcode); }
  std::string_view opcode_name() const;

  bool has_modifier(std::string_view modifier) const;
  // has_result() says whether the first operand is what the instruction writes.
  bool has_result() const;
  // meeting() is who waits for whom here: with some modifiers it is not what the table says.
  Meeting meeting() const;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// Label is `name:`.
struct Label {
  std::string name;
  Location location;
  friend bool operator==(const Label&, const Label&) = default;
};

// Variable is a declaration in any state space: a kernel parameter, a register range
// (`.reg .f32 %f<12>`: range_count 12), a shared array, a module global with its initialiser.
struct Variable {
  StateSpace space = StateSpace::none;
  std::string linkage;                  // "", "visible", "extern", "weak", "common"
  std::vector<std::string> attributes;  // as written: "managed"
  uint32_t alignment = 0;               // bytes; 0 where none is written
  uint32_t vector_elements = 1;         // 2 for .v2, 4 for .v4
  ScalarType type = ScalarType::none;
  std::string name;
  std::optional<uint32_t> range_count;  // .reg .b32 %r<5>
  std::vector<uint64_t> dimensions;     // [] is written as 0: an extern array of unknown size
  bool is_pointer = false;              // .ptr attribute of a parameter
  StateSpace pointer_space = StateSpace::none;
  uint32_t pointer_alignment = 0;
  std::vector<Operand> initialiser;  // flattened, in order; empty where none is written
  bool initialiser_has_braces = false;
  Location location;

  // aligned_to() is the alignment as written, or that of the type.
  uint32_t aligned_to() const;
  // bytes() is the size in memory: element size * vector elements * dimensions.
  uint64_t bytes() const;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Directive is any other statement or function attribute, kept as its name and its arguments as
// tokens: `.loc 1 7 3`, `.pragma "nounroll"`, `.callprototype (.param .b32 _) _ ()`. Plain lists
// hold their elements without the commas: `.maxntid 256, 1, 1`, `.branchtargets a, b`.
struct Directive {
  std::string name;                    // without the dot
  std::vector<std::string> arguments;  // tokens as written
  Location location;
  friend bool operator==(const Directive&, const Directive&) = default;
};

struct Block;
using Statement = std::variant<Instruction, Label, Variable, Directive, Block>;

// Block is `{ ... }` inside a body: a scope of its own for its declarations.
struct Block {
  std::vector<Statement> statements;
  friend bool operator==(const Block& a, const Block& b) { return a.statements == b.statements; }
};

struct Function {
  bool is_entry = false;  // .entry (a kernel) or .func
  std::string linkage;
  std::string name;
  std::vector<Variable> results;      // of a .func
  std::vector<Variable> parameters;   // space is param (or reg for a .func of old style)
  std::vector<Directive> attributes;  // .maxntid, .minnctapersm, .noreturn, ...
  bool is_definition = false;         // false: a prototype, body empty
  Block body;
  Location location;
  friend bool operator==(const Function&, const Function&) = default;
};

using ModuleItem = std::variant<Variable, Function, Directive>;

struct Module {
  uint32_t version_major = 0;  // .version 9.0
  uint32_t version_minor = 0;
  std::vector<std::string> target;  // .target sm_75, debug
  uint32_t address_size = 64;
  std::vector<ModuleItem> items;  // in source order

  // find_function() returns the definition (or else the prototype) of that name, or nullptr.
  const Function* find_function(std::string_view name) const;
  // kernels() lists the .entry functions in source order.
  std::vector<const Function*> kernels() const;
  friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace sluice::ptx
