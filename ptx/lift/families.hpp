// The lifting functions, one for each opcode or group of opcodes with one shape. Each takes its
// modifiers, reads its sources, emits and writes its destinations. The instruction table says in
// which file each one stands.
#pragma once

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

#define SLUICE_PTX_INSTRUCTION(opcode, enumerator, operands, effect, lift, ...) \
  void lift(InstructionLifter& lifter);
#include "ptx/instructions.def"
#undef SLUICE_PTX_INSTRUCTION

// What opcodes of integers and floats do to either, once their type is taken.
void lift_integer_add_sub(InstructionLifter& lifter, ScalarType type);
void lift_integer_mul(InstructionLifter& lifter, ScalarType type);
void lift_integer_mad(InstructionLifter& lifter, ScalarType type);
void lift_integer_div(InstructionLifter& lifter, ScalarType type);
void lift_integer_min_max(InstructionLifter& lifter, ScalarType type);
void lift_integer_abs(InstructionLifter& lifter, ScalarType type);
void lift_integer_neg(InstructionLifter& lifter, ScalarType type);
void lift_float_add_sub(InstructionLifter& lifter, ScalarType type);
void lift_float_mul(InstructionLifter& lifter, ScalarType type);
void lift_float_fma(InstructionLifter& lifter, ScalarType type);
void lift_float_div(InstructionLifter& lifter, ScalarType type);
void lift_float_min_max(InstructionLifter& lifter, ScalarType type);
void lift_float_abs(InstructionLifter& lifter, ScalarType type);
void lift_float_neg(InstructionLifter& lifter, ScalarType type);

// arithmetic/narrow_conversion.cpp: cvt.pack; and cvt where one of its types is a pair of 8-bit
// floats, else false.
void lift_cvt_pack(InstructionLifter& lifter);
bool lift_eight_bit_floats(InstructionLifter& lifter, ScalarType to, ScalarType from);

// memory/mbarrier.cpp: cp.async.mbarrier.arrive.
void lift_copy_arrival(InstructionLifter& lifter);

// memory/moves.cpp: an operand's elements, first in the lowest bits, as an integer of type `whole`,
// and such an integer into the elements of an operand. All elements have one type.
llvm::Value* pack(InstructionLifter& lifter, const Operand& sources, ScalarType element,
                  llvm::Type* whole);
void unpack(InstructionLifter& lifter, llvm::Value* whole, const Operand& destinations,
            ScalarType element);

// memory/memory.cpp: the elements of an operand, of which there must be `count`.
std::vector<const Operand*> take_elements(InstructionLifter& lifter, size_t index, size_t count);

// special_registers.cpp: the value of a special register, null where `name` is none.
llvm::Value* read_special_register(InstructionLifter& lifter, std::string_view name,
                                   std::string_view component);
// flow/cluster.cpp: the same for those of clusters; and barrier.cluster.
llvm::Value* read_cluster_register(InstructionLifter& lifter, std::string_view name,
                                   std::string_view component);
void lift_cluster_barrier(InstructionLifter& lifter);

// memory/memory_address.cpp: where an instruction's address operand points, in `space`.
struct MemoryPlace {
  Symbol* parameter = nullptr;     // a .param variable that is accessed by its name
  int64_t bytes = 0;               // offset into it
  llvm::Value* address = nullptr;  // an integer address, where the base is a register
  llvm::Value* base = nullptr;     // a pointer to a variable, where the base is one
  unsigned space = 0;
};
MemoryPlace find_place(InstructionLifter& lifter, const Operand& operand, StateSpace space);
// pointer_at() is the pointer `bytes` after the place.
llvm::Value* pointer_at(InstructionLifter& lifter, const MemoryPlace& place, uint64_t bytes);
// take_space() takes the state space modifier of a memory instruction.
StateSpace take_space(InstructionLifter& lifter);

}  // namespace sluice::ptx::lift_detail
