// The lifting functions, one for each opcode or group of opcodes with one shape. Each takes its
// modifiers, reads its sources, emits and writes its destinations.
#pragma once

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

// arithmetic_common.cpp: what integers and floats share
void lift_add_sub(InstructionLifter& lifter);
void lift_mul(InstructionLifter& lifter);
void lift_mad(InstructionLifter& lifter);
void lift_div(InstructionLifter& lifter);
void lift_min_max(InstructionLifter& lifter);
void lift_abs(InstructionLifter& lifter);
void lift_neg(InstructionLifter& lifter);

// arithmetic_integer.cpp
void lift_integer_add_sub(InstructionLifter& lifter, ScalarType type);
void lift_integer_mul(InstructionLifter& lifter, ScalarType type);
void lift_integer_mad(InstructionLifter& lifter, ScalarType type);
void lift_integer_min_max(InstructionLifter& lifter, ScalarType type);
void lift_integer_abs(InstructionLifter& lifter, ScalarType type);
void lift_integer_neg(InstructionLifter& lifter, ScalarType type);
void lift_mul24(InstructionLifter& lifter);
void lift_sad(InstructionLifter& lifter);
void lift_dot_product(InstructionLifter& lifter);  // dp4a dp2a

// division.cpp, carry.cpp
void lift_integer_div(InstructionLifter& lifter, ScalarType type);
void lift_rem(InstructionLifter& lifter);
void lift_carry(InstructionLifter& lifter);

// arithmetic_float.cpp
void lift_float_add_sub(InstructionLifter& lifter, ScalarType type);
void lift_float_mul(InstructionLifter& lifter, ScalarType type);
void lift_float_div(InstructionLifter& lifter, ScalarType type);
void lift_float_min_max(InstructionLifter& lifter, ScalarType type);
void lift_float_abs(InstructionLifter& lifter, ScalarType type);
void lift_float_neg(InstructionLifter& lifter, ScalarType type);
void lift_fma(InstructionLifter& lifter);
void lift_float_fma(InstructionLifter& lifter, ScalarType type);
void lift_copysign(InstructionLifter& lifter);
void lift_testp(InstructionLifter& lifter);

// float_functions.cpp
void lift_reciprocal(InstructionLifter& lifter);
void lift_sqrt(InstructionLifter& lifter);
void lift_rsqrt(InstructionLifter& lifter);
void lift_float_function(InstructionLifter& lifter);  // sin cos ex2 lg2
void lift_tanh(InstructionLifter& lifter);

// logic.cpp
void lift_logic(InstructionLifter& lifter);
void lift_not(InstructionLifter& lifter);
void lift_lop3(InstructionLifter& lifter);
void lift_shift(InstructionLifter& lifter);
void lift_funnel_shift(InstructionLifter& lifter);

// bits.cpp
void lift_bit_count(InstructionLifter& lifter);  // popc clz
void lift_brev(InstructionLifter& lifter);
void lift_bfind(InstructionLifter& lifter);
void lift_bfe(InstructionLifter& lifter);
void lift_bfi(InstructionLifter& lifter);
void lift_bmsk(InstructionLifter& lifter);
void lift_szext(InstructionLifter& lifter);
void lift_prmt(InstructionLifter& lifter);

// comparison.cpp
void lift_setp(InstructionLifter& lifter);
void lift_set(InstructionLifter& lifter);
void lift_selp(InstructionLifter& lifter);
void lift_slct(InstructionLifter& lifter);

// conversion.cpp
void lift_cvt(InstructionLifter& lifter);

// moves.cpp
void lift_mov(InstructionLifter& lifter);
void lift_cvta(InstructionLifter& lifter);
void lift_isspacep(InstructionLifter& lifter);

// memory.cpp
void lift_ld(InstructionLifter& lifter);
void lift_st(InstructionLifter& lifter);
void lift_prefetch(InstructionLifter& lifter);

// atomics.cpp
void lift_atom(InstructionLifter& lifter);  // atom red

// synchronisation.cpp
void lift_barrier(InstructionLifter& lifter);  // bar barrier
void lift_membar(InstructionLifter& lifter);
void lift_fence(InstructionLifter& lifter);
void lift_nanosleep(InstructionLifter& lifter);

// warp.cpp
void lift_shfl(InstructionLifter& lifter);
void lift_vote(InstructionLifter& lifter);
void lift_match(InstructionLifter& lifter);
void lift_redux(InstructionLifter& lifter);
void lift_activemask(InstructionLifter& lifter);

// async_copy.cpp, mbarrier.cpp
void lift_copy_async(InstructionLifter& lifter);
void lift_mbarrier(InstructionLifter& lifter);
void lift_copy_arrival(InstructionLifter& lifter);  // cp.async.mbarrier.arrive

// hints.cpp
void lift_hint(
    InstructionLifter& lifter);  // applypriority discard griddepcontrol pmevent prefetchu
void lift_createpolicy(InstructionLifter& lifter);
void lift_elect(InstructionLifter& lifter);
void lift_fns(InstructionLifter& lifter);

// control_flow.cpp
void lift_bra(InstructionLifter& lifter, llvm::Value* condition);
void lift_brx(InstructionLifter& lifter);
void lift_ret(InstructionLifter& lifter);
void lift_exit(InstructionLifter& lifter);
void lift_trap(InstructionLifter& lifter);

// calls.cpp
void lift_call(InstructionLifter& lifter);

// special_registers.cpp: the value of a special register, null where `name` is none.
llvm::Value* read_special_register(InstructionLifter& lifter, std::string_view name,
                                   std::string_view component);

// memory_address.cpp: where an instruction's address operand points, in `space`.
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

// lift_family() calls the lifting function of an opcode.
void lift_family(InstructionLifter& lifter);

}  // namespace sluice::ptx::lift_detail
