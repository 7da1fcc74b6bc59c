// What a CUDA programmer can change so that an access becomes exact.
#pragma once

#include <string>
#include <string_view>

namespace sluice::tools {

enum class Widening {
  gather,            // the address is data
  data_loop,         // the address moves in a loop whose bounds are data
  data_guard,        // the access happens under a condition on data
  wrap,              // index arithmetic may wrap around
  not_affine,        // a product of indices and the like
  several_pointers,  // one access through one of several pointers
  pointer_value,     // the value of a pointer decides
  exchanged,         // shuffled between threads, or a clock
  loaded_pointer,    // the pointer itself comes from memory
  module_variable,
  grid_communication,
  no_base,      // no pointer argument behind an address
  too_large,    // the analysis ran out of its budget
  instruction,  // not understood: inline assembly, an instruction, a call
  unknown,
};

// widening_of() reads the reason that the analysis gave for an access, or for a kernel that it
// does not follow.
Widening widening_of(std::string_view reason);

// advice_for() says what to change, in one or two sentences; empty where there is nothing to say.
// `writes` tells a write from a read.
std::string advice_for(Widening widening, bool writes);

}  // namespace sluice::tools
