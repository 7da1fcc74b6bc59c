// A look at a library's file that costs a few reads, for the many that have nothing to do with
// CUDA.
#pragma once

namespace sluice::interpose {

// is_worth_a_look() is false of a file that has neither a table of symbols nor what nvcc makes,
// nor exports a CUDA runtime, and of what is no such file at all: it need not be mapped. True of
// one that would take more to judge. Not thread-safe: the dynamic linker calls under its lock.
bool is_worth_a_look(const char* path);

}  // namespace sluice::interpose
