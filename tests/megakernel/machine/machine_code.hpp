// Machine code as nvdisasm shows it, and where its lanes wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice::megakernel::testing {

// has_disassembler() says whether the toolkit's nvdisasm was found when the tests were built.
bool has_disassembler();

// MachineCode is one section of code, functions behind each other.
struct MachineCode {
  struct Instruction {
    uint64_t address = 0;
    std::string guard;   // "@!P0", or empty
    std::string opcode;  // with its modifiers: "BAR.RED.OR.DEFER_BLOCKING"
    std::string operands;
    std::vector<size_t> next;  // the instructions that may follow; a call is followed by its return
    std::string callee;        // of a call
    std::string function;      // in which it stands

    bool is(const char* name) const;  // whatever its modifiers are
  };
  std::vector<Instruction> instructions;
};

// disassemble() assembles a PTX file by ptxas and takes the result apart; nothing where a tool
// fails, with what it said on stderr.
std::optional<MachineCode> disassemble(const std::string& ptx_file, unsigned architecture);

// late_debts() lists the places, in words, where a lane that has ended waits for others of its warp
// (BSYNC) before it has given what they wait for: its leave from their barrier, or its word at the
// offset `words` of the pool, where there are any.
std::vector<std::string> late_debts(const MachineCode& code, std::optional<uint32_t> words);

// A Landmark is an instruction that a path passes; those that `avoids` is true for it does not pass
// on its way there.
struct Landmark {
  std::function<bool(const MachineCode::Instruction&)> is;
  std::function<bool(const MachineCode::Instruction&)> avoids;
};

// shortest_path() lists the instructions from the first one of a function through all landmarks in
// their order, calls entered; nothing where there is no such way.
std::vector<const MachineCode::Instruction*> shortest_path(const MachineCode& code,
                                                           const std::string& function,
                                                           const std::vector<Landmark>& landmarks);

// load_chain() is how many loads from global memory hang on each other at the end of a path, whose
// last instruction is one: the address of each comes from the one before, through registers or
// through shared memory.
unsigned load_chain(const std::vector<const MachineCode::Instruction*>& path);

}  // namespace sluice::megakernel::testing
