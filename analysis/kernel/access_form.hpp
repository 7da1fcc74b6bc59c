// A kernel in access form: all that remains of it is control flow, integer arithmetic and the
// places where memory of the device is touched. Internal to the analysis.
//
// - The function takes the slots as arguments, of which only the shape scalars are used; thread and
// block indices
//   and extents are still calls of llvm.nvvm.read.ptx.sreg.*.
// - An access through a pointer slot is `call void @sluice.touch(i64 offset, i32 number)`: offset
//   in bytes from the slot's value, number an index into `touches`.
// - A value that is not known before the kernel runs (loaded, shuffled, a clock) is
//   `call T @sluice.unknown.T(i32 number)`, number an index into `unknowns`.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "analysis/footprint.hpp"
#include "base/result.hpp"

namespace sluice::analysis {

// Touch is one access of the kernel's code to memory of the device.
struct Touch {
  uint32_t slot = 0;  // index into KernelSignature::pointers
  uint32_t bytes = 0;
  bool reads = false;
  bool writes = false;
  bool may_only = false;  // its write counts as a may-write even where it always happens
  bool any_byte = false;  // one of several pointers: the slot's whole buffer may be meant
  uint32_t line = 0;      // of the PTX
};

// TouchKind is what touches must have in common to be described together.
struct TouchKind {
  uint32_t slot = 0;
  bool reads = false;
  bool writes = false;
  bool may_only = false;
  friend auto operator<=>(const TouchKind&, const TouchKind&) = default;
};

inline TouchKind kind_of(const Touch& touch) {
  return {touch.slot, touch.reads, touch.writes, touch.may_only};
}

// UnknownValue says where a value comes from that is not known before the kernel runs.
struct UnknownValue {
  Widening source = Widening::loaded_value;  // or another value's
  uint32_t line = 0;                         // of the PTX
  std::string name = {};                     // of a pointer
};

struct AccessForm {
  std::unique_ptr<llvm::Module> module;
  llvm::Function* function = nullptr;
  KernelSignature signature;
  std::vector<unsigned> scalar_arguments;  // of `function`, for each shape scalar
  std::vector<Touch> touches;
  std::vector<UnknownValue> unknowns;
  WideningReason opaque_reason;
};

// KernelSource is a lifted kernel and what its PTX says about its parameters.
struct KernelSource {
  std::unique_ptr<llvm::Module> module;
  std::string kernel;
  std::vector<ParameterSlot> parameters;  // one for each argument, in order
  std::set<uint32_t> known_pointers;      // offsets in the block that the PTX uses as addresses
  uint32_t parameter_bytes = 0;
};

// reduce() brings a kernel into access form and finds its pointer slots and shape scalars. A
// kernel that cannot be understood comes back with its opaque reason and no touches. An error
// where the module does not hold the kernel. Thread-safe for distinct LLVM contexts.
Result<AccessForm> reduce(KernelSource source);

inline constexpr const char* touch_name = "sluice.touch";
inline constexpr const char* unknown_prefix = "sluice.unknown.";

}  // namespace sluice::analysis
