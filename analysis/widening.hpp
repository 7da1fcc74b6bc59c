// Why a footprint says more than the kernel does, as values: words are made of them where people
// read (dro/records/widening.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace sluice::analysis {

enum class Widening {
  none,
  // The place of an access is not known exactly:
  loaded_value,      // it depends on a value loaded from memory
  exchanged_value,   // on one shuffled between threads, or on a clock
  pointer_value,     // on the value that a pointer holds
  not_affine,        // on a product of indices and the like
  wraps,             // index arithmetic may wrap around
  several_pointers,  // it may start from one of several pointers
  long_relation,     // it would take too long to describe
  large_kernel,      // so would any in a kernel this large
  // Whether it happens is not known:
  data_guard,  // it stands under a condition on data
  // The kernel is opaque:
  loaded_pointer,  // the pointer itself comes from memory
  module_variable,
  plain_number,  // an address may be one
  no_base,       // no pointer argument is found behind an address
  constant_write,
  grid_communication,  // its blocks wait for each other
  deep_calls,          // its functions call themselves, or are too long
  unknown_call,
  unknown_instruction,
  missing_values,  // of shape scalars
  lost,            // it could be analysed at an earlier start
};

// WideningReason is a widening with its operands, of which each kind uses some.
struct WideningReason {
  Widening why = Widening::none;
  uint32_t line = 0;           // of the PTX: where the access or the instruction is
  uint32_t source = 0;         // of the PTX: where the value to blame comes from; 0: no line
  bool bounds_a_loop = false;  // that value bounds a loop in which the address moves
  std::string name = {};       // of a variable, a parameter or a function

  bool empty() const { return why == Widening::none; }
  friend bool operator==(const WideningReason&, const WideningReason&) = default;
};

}  // namespace sluice::analysis
