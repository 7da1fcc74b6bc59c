// PTX kernel to LLVM IR in NVVM's own dialect, so that what reads it reads any NVVM IR.
//
// Conventions of the IR:
// - triple nvptx64-nvidia-cuda with NVVM's data layout; the kernel has calling convention
//   ptx_kernel and an entry in !nvvm.annotations.
// - a parameter `.param .u64 p` is an i64 argument named "p" (f32: float, f64: double, 8 to 64
//   bit integers by width); `.param .align 8 .b8 s[24]` is `ptr byval([24 x i8]) align 8 %s`.
//   Arguments stand in PTX order, one for each parameter.
// - an address is an integer until it is used: a load from .global is
//   `load T, (inttoptr i64 to ptr addrspace(1))`. Address spaces are NVVM's: 0 generic, 1 global,
//   3 shared, 4 const, 5 local. cvta between generic and global is the identity on i64.
// - %tid, %ctaid, %ntid, %nctaid, %laneid ... are calls of llvm.nvvm.read.ptx.sreg.*;
//   bar.sync 0 is llvm.nvvm.barrier0; shuffles, votes and atomics are NVVM intrinsics and LLVM
//   atomicrmw/cmpxchg.
// - static .shared variables are addrspace(3) globals; the dynamic pool (`extern .shared`) is an
//   external addrspace(3) global of type [0 x i8]. PTX keeps shared addresses in 32-bit registers,
//   too (`ptrtoint ptr addrspace(3) @tile to i32`), so a reader must give addrspace(3) pointers
//   values below 2^32: offsets into the block's shared memory. cvta between generic and shared,
//   const or local is an addrspacecast.
// - module variables (.global, .const) are external declarations [bytes x i8] in addrspace(1) and
//   addrspace(4): their storage and first content belong to the loaded module. The compiler's own
//   tables (__cudart_*, for sin and cos) are constant.
// - .local variables are allocas, cast to addrspace(5).
// - what NVVM has no intrinsic for in LLVM 19 is a call of a declaration sluice.*: bar.arrive is
//   sluice.barrier.arrive(number, count), bar.red at other barriers than 0
//   sluice.barrier.red.{and,or,popc}(predicate, number, count), textures and surfaces are the
//   functions in texture_call.hpp.
// - what the lanes of a warp do with matrices together is a call of sluice.matrix.*
// (matrix_call.hpp);
//   wmma.load and wmma.store are plain accesses, ldmatrix and stmatrix such and a call; those that
//   don't begin with that call begin with one of sluice.warp.wait(). Barriers in
//   shared memory are sluice.mbarrier.* (mbarrier_call.hpp), cp.async a load and a store.
// - a call through a pointer compares it with each function whose address the module takes and
// whose
//   parameters have the same sizes, and traps where it is none of them.
// - a .func that is called is an internal function: scalars by value, aggregates `ptr byval`, an
//   aggregate result through a leading `sret` pointer. A prototype without a body (vprintf,
//   malloc, __assertfail) is a declaration. `exit` inside a .func is llvm.nvvm.exit, then
//   unreachable; trap is llvm.trap, then unreachable.
// - vector loads and stores are one access for each element, the first with the whole alignment.
//   .volatile and .cv are volatile; .relaxed, .acquire, .release and atomics have LLVM's
//   orderings, in the scope of the whole system; fences are llvm.nvvm.membar.*.
// - integer arithmetic has no nsw/nuw, floating point no fast-math flags beyond what the PTX says
//   (contraction only where PTX wrote fma or mad). Nothing is undefined where PTX defines it:
//   shifts by the width or more, division by zero (NVIDIA's results), conversions out of range.
// - .ftz is honoured by selects around each operation: subnormal inputs and results become zeros.
//   The .approx forms are computed exactly or by llvm.exp2, llvm.log2, llvm.sin and llvm.cos.
//   Directed roundings are computed from error terms, so no rounding mode is ever changed (those of
//   f32 in functions of the module, see directed_float_name()), but for products, quotients, roots
//   and fma of f64, which are NVVM's intrinsics (llvm.nvvm.mul.rp.d). Which NaN an operation gives
//   is left open, as LLVM does.
// - a guarded instruction without effects is a select; one that touches memory, synchronises or
//   leaves is a branch around it. A register that is read before it is written is zero.
// - each instruction that touches memory, branches or synchronises carries !sluice.ptx !{i32 line}.
// - llvm.exp2 carries !sluice.flushed where .ftz makes zeros of its small operands and results,
// which
//   the instructions around it do: who reads it may do that at less cost.
// - registers are promoted: the function is in SSA form, its blocks in PTX order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace llvm {
class Instruction;
class LLVMContext;
class Module;
}  // namespace llvm

namespace sluice::ptx {

inline constexpr const char* flushed_mark = "sluice.flushed";
inline constexpr const char* line_mark = "sluice.ptx";

// lift() makes a module with the kernel, the functions it calls and the module variables that it
// uses. An instruction outside the instruction table makes the kernel unsupported, named with its
// line; it is never skipped. Instructions in `left_out` are, for a caller to whom they do not
// matter: what they would write keeps its value. Thread-safe for distinct contexts.
using LeftOut = std::unordered_set<const ptx::Instruction*>;
Result<std::unique_ptr<llvm::Module>> lift(llvm::LLVMContext& context, const Module& module,
                                           std::string_view kernel, const LeftOut& left_out = {});

// source_line() is the PTX line that an instruction was lifted from, 0 where it has none.
uint32_t source_line(const llvm::Instruction& instruction);

// directed_float_name() is the name of the module's function for "add", "mul" or "fma" on floats
// with rounding "rz", "rm" or "rp". Its body computes what PTX's instruction does; who runs the
// code and has an instruction for it may put that in its place.
std::string directed_float_name(std::string_view operation, std::string_view rounding);

}  // namespace sluice::ptx
