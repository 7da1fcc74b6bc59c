// What compiled code calls while it waits for what another thread or block writes.
#pragma once

#include "hostcuda/jit/block_compiler.hpp"

namespace sluice::hostcuda::jit {

inline constexpr const char* wait_end_symbol = "sluice_jit_wait_end";
inline constexpr const char* wait_turn_symbol = "sluice_jit_wait_turn";

// As set_wait_listener() says.
void set_wait_listener_of_thread(const WaitListener* listener);

// wait_turn() is called each time that a thread goes round in a loop without getting anywhere,
// wait_end() when it has left one, or others of its block go on. A turn gives other threads the
// processor, tells the calling thread's WaitListener that its block waits, and logs `text`, which
// says where it waits and for what, once where a block has waited for as long as
// SLUICE_WAIT_WARNING says: in seconds, 5 where it is unset, 0 for never. Thread-safe.
extern "C" void sluice_jit_wait_end();
extern "C" void sluice_jit_wait_turn(const char* text);

}  // namespace sluice::hostcuda::jit
