// What keeps the process alive when a kernel accesses memory that is not there.
#pragma once

#include <cstdint>

#include "hostcuda/block_abi.h"
#include "hostcuda/jit/library/device_fault.hpp"

namespace sluice::hostcuda::jit {

inline constexpr const char* guarded_symbol = "sluice_jit_run_guarded";

// The fault of a thread that accessed memory that is not there. The enumerators of DeviceFault are
// those that compiled code raises itself.
inline constexpr DeviceFault illegal_address{3};

// last_fault_address() is the address of the last access that ended a kernel.
uint64_t last_fault_address();

// end_if_faulted() ends the calling thread's part of a launch that another thread's access has
// ended: for blocks that wait for each other. Does nothing outside of sluice_jit_run_guarded().
void end_if_faulted();

// A kernel's block function is a call of this one with its body. Where the body's thread gets
// SIGSEGV or SIGBUS, the body ends there, and `fault` becomes illegal_address; from
// then on blocks of the launch do nothing. The handler is installed at the first call, acts only on
// threads inside a body, and hands everything else to the handler that was there before.
extern "C" void sluice_jit_run_guarded(SluiceBlockFunction body, const SluiceBlockLaunch* launch,
                                       uint32_t first_block, uint32_t block_count, void* scratch,
                                       uint8_t* fault);

}  // namespace sluice::hostcuda::jit
