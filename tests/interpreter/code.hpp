// A kernel as a list of steps: names looked up, labels replaced by places.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "interpreter/values.hpp"
#include "ptx/syntax.hpp"

namespace sluice::interpreter {

enum class Special : uint8_t { tid, ntid, ctaid, nctaid, laneid, warpid };

// Argument is one operand of a step.
struct Argument {
  enum class Kind : uint8_t { none, reg, bits, literal, special, memory, registers };
  Kind kind = Kind::none;
  uint32_t number = 0;    // of the register, of `memory` the base; a special register's component
  bool has_base = false;  // memory: `number` is added
  bool negated = false;   // of a predicate
  Special special = Special::tid;
  uint64_t bits = 0;                // memory: the rest of the address
  unsigned literal_width = 0;       // of a floating-point literal
  std::vector<uint32_t> registers;  // {a, b}, or p|q
};

struct Machine;
struct Step;
// An Action does one step of the thread that the machine is at.
using Action = void (*)(Machine& machine, const Step& step);
// A Compute makes a result of operands that are `step.type`.
using Compute = uint64_t (*)(const uint64_t* operands, ScalarType type);

struct Step {
  const ptx::Instruction* source = nullptr;
  Action action = nullptr;
  Compute compute = nullptr;
  ScalarType type = ScalarType::none;  // the first in the opcode's modifiers
  ScalarType from = ScalarType::none;  // the second, else the first
  std::vector<Argument> arguments;
  bool guarded = false, negated = false;
  bool flushes = false;  // .ftz
  uint32_t guard = 0;
  uint32_t target = 0;  // of a branch
  uint32_t detail = 0;  // what the action keeps about the step
};

// Code refers to the module that it was made from.
struct Code {
  const ptx::Function* kernel = nullptr;
  std::vector<Step> steps;
  uint32_t registers = 0;
  uint64_t shared_bytes = 0, local_bytes = 0;
};

// decode() returns an error for the first instruction that is not interpreted. Module variables in
// global memory get the addresses in `globals`.
Result<Code> decode(const ptx::Module& module, std::string_view kernel,
                    const std::unordered_map<std::string, uint64_t>& globals = {});

// choose_action() fills in how a step is done; false where it is not interpreted.
bool choose_action(Step& step);

}  // namespace sluice::interpreter
