// Kernels whose threads go where their arguments send them, whatever the data.
#pragma once

#include "hostcuda/jit/lowering/thread_function.hpp"

namespace sluice::hostcuda::jit {

// is_data_oblivious() is true of a thread function, watched and simplified, where every branch and
// all that is told of its accesses and meetings follow from the launch's arguments and the thread's
// place: nothing that was loaded, exchanged or counted decides. Two launches with the same
// arguments then access the same bytes from the same threads.
bool is_data_oblivious(const ThreadFunction& thread);

// tell_data_oblivious() has the call that tells of a thread's begin tell it.
void tell_data_oblivious(const ThreadFunction& thread);

}  // namespace sluice::hostcuda::jit
