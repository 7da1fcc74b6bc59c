// The one table of PTX instructions: what parser checks, lifter and rewriter read.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::ptx {

// Opcode names each base opcode that Sluice knows; the rows stand in instructions.def.
enum class Opcode : uint16_t {
#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, signature, effect) enumerator,
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION
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
};

struct InstructionInfo {
  Opcode opcode;
  std::string_view name;  // "ld"
  std::string_view
      signature;  // operands: d destination, s source, a address, l label, p predicate,
                  // v d/s that may be a vector; ? after one that may be missing
  Effect effect;
};

// find_instruction() returns the row of a base opcode, or nullptr where it is outside the table.
const InstructionInfo* find_instruction(std::string_view opcode);

}  // namespace sluice::ptx
