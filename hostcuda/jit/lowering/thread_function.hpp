// A kernel as an LLVM function of one thread, on plain host pointers.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "base/dim3.hpp"
#include "base/result.hpp"
#include "ptx/text/source_lines.hpp"

namespace sluice::hostcuda::jit {

// KernelContext is what the compiler must know of a kernel beside its IR.
struct KernelContext {
  std::string kernel;
  Dim3 block;
  std::vector<uint32_t> parameter_offsets;  // bytes in the parameter block, one for each argument
  // Address of a module variable (.global, .const), or an error where it has no storage.
  std::function<Result<uint64_t>(std::string_view)> variable_address;
  // A byte that takes the DeviceFault of a thread that has one. It outlives the code.
  uint8_t* fault_flag = nullptr;
  bool traced = false;   // the code reports its accesses (access_trace.hpp)
  bool watched = false;  // or its threads (watch/thread_watch.hpp); then it is traced too
  // Its lines, where somebody wants them (lines/debug_lines.hpp).
  std::optional<ptx::SourceLines> lines;
};

// ThreadFunction is the kernel with all that varies as an argument:
//   void f(ptr shared, ptr origin, i32 dynamic_shared_bytes, i64 grid_workspace, i32 nctaid[3],
//          i32 ctaid[3], i32 tid[3], kernel parameters...)
// `origin` is a null pointer that the optimiser knows nothing of: an address kept in an integer
// becomes `getelementptr i8, origin, integer`, which its analyses follow where they give up on
// inttoptr. Until bind_origin() it is a call of `sluice.origin`, since alias analysis believes that
// an argument never points to a local variable. A by-value structure is a pointer into the
// parameter block. Only block-wide and warp-wide synchronisation remains as calls of NVVM
// intrinsics.
struct ThreadFunction {
  static constexpr unsigned shared = 0, origin = 1, dynamic_shared_bytes = 2, grid_workspace = 3,
                            nctaid = 4, ctaid = 7, tid = 10, first_parameter = 13;
  llvm::Function* function = nullptr;
  uint64_t static_shared_bytes = 0;      // the dynamic pool starts here, 16-byte aligned
  uint64_t named_shared_bytes = 0;       // the static variables end here
  bool shared_escapes = false;           // a generic address of shared memory was taken
  bool shared_is_dynamic = false;        // the kernel names the dynamic pool
  bool is_flushing = false;              // needs run_flushing() (flushed_operands.hpp)
  std::vector<uint64_t> bytes_by_value;  // a parameter: of a structure, 0 for others
};

// place() names an instruction for an error: "kernel k, PTX line 12".
std::string place(const KernelContext& context, const llvm::Instruction& instruction);

// make_thread_function() turns a lifted kernel (conventions in ptx/lift.hpp) into a thread
// function, with the block size as constants. Everything it calls is inlined; what can't be is an
// error.
Result<ThreadFunction> make_thread_function(llvm::Module& module, const KernelContext& context);

// read_structures_first() moves the loads of by-value structures, at places that are known, in
// front of all else. A compiler has them where it needs them, under a guard: all threads read
// alike, which is not seen any more where only some of them come. Call it when the function is
// simplified, which moves them back.
void read_structures_first(const ThreadFunction& thread);

// bind_origin() replaces the calls of `sluice.origin` by the argument.
void bind_origin(llvm::Function& function);

}  // namespace sluice::hostcuda::jit
