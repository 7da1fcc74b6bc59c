// The one table of PTX instructions. Parser, lifter, analysis and the megakernel's rewriter ask it
// what an opcode does; CONTRIBUTING.md says what a new one takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::ptx {

// Opcode names each base opcode that Sluice knows; the rows stand in instructions.def.
enum class Opcode : uint16_t {
#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, ...) enumerator,
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
  unknown,
};

// Effect is what an instruction may do beside writing its destination registers.
enum class Effect : uint8_t {
  none,     // pure arithmetic
  load,     // reads memory
  store,    // writes memory
  atomic,   // reads and writes memory as one
  barrier,  // waits for other threads of the block
  warp,     // exchanges values with other lanes of the warp
  fence,    // orders memory
  branch,   // changes the flow of control inside the function
  call,
  exit,  // ends the thread or returns
  unknown,
};

// Meeting is who waits for whom at an instruction.
enum class Meeting : uint8_t {
  none,
  block,  // threads of the block, at a barrier
  lanes,  // the lanes of a mask, its last operand, where it has .sync
  warp,   // all lanes of the warp. PTX leaves it undefined where one does not come or has exited
};

// Gives is what the lanes that meet have in their destinations.
enum class Gives : uint8_t {
  own,      // each its own value
  alike,    // all the same one
  present,  // a mask that names none but lanes that were there
};

struct InstructionInfo {
  Opcode opcode = Opcode::unknown;
  std::string_view name;      // "ld"
  std::string_view operands;  // d destination, s source, a address, l label,
                              // p predicate, v d/s that may be a vector; ? after one
                              // that may be missing
  Effect effect = Effect::unknown;
  Meeting meeting = Meeting::none;
  Gives gives = Gives::own;

  constexpr bool accesses_memory() const {
    return effect == Effect::load || effect == Effect::store || effect == Effect::atomic;
  }
};

// The rows in the order of their enumerators, and a last one for what the table lacks.
// The table spells opcodes with the preprocessor's `#`, so `and` becomes the text "and".
inline constexpr InstructionInfo instruction_table[] = {
#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, operands, effect, lift, ...) \
  {Opcode::enumerator, #opcode, operands, Effect::effect __VA_OPT__(, ) __VA_ARGS__},
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
    {Opcode::unknown, "", "v?"},
};

constexpr const InstructionInfo& info_of(Opcode opcode) {
  return instruction_table[static_cast<size_t>(opcode)];
}

// find_opcode() is the opcode of that base name ("ld"), unknown where it is outside the table.
Opcode find_opcode(std::string_view name);

}  // namespace sluice::ptx
