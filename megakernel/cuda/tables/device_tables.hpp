// From a window to the tables that the scheduler kernel reads (window_tables.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "megakernel/cuda/body.hpp"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/window.hpp"

namespace sluice::megakernel {

// Workers is what runs a window.
struct Workers {
  uint32_t threads = 0;     // of one, as its module was linked
  uint64_t most_bytes = 0;  // of shared memory that one may have before fewer of them fit
};

// DeviceCode is what a GPU needs to run blocks of one kernel with one block size: a task body and
// the addresses that it asks to be staged.
struct DeviceCode {
  uint32_t body = 0;             // its number in the linked module
  uint32_t parameter_bytes = 0;  // a multiple of 8
  uint32_t dynamic_offset = 0;   // in the pool
  SideBySide beside;
  std::vector<uint64_t> addresses;  // of module variables

  // at_once() is how many blocks such a worker runs at once.
  uint32_t at_once(const Workers& workers, uint32_t dynamic_shared_bytes) const;
  // pool_bytes() is the dynamic shared memory that a worker needs for so many of them.
  uint64_t pool_bytes(uint32_t dynamic_shared_bytes, uint32_t blocks = 1) const {
    return uint64_t{dynamic_offset} + dynamic_shared_bytes +
           (blocks - 1) * beside.stride(dynamic_shared_bytes);
  }
};

// device_code() is that of a body, without addresses.
DeviceCode device_code(const TaskBody& body, uint32_t number);

// SignalMemory keeps count of what flags and counters of one piece of device memory hold, so that
// windows that use it one after another clear nothing.
struct SignalMemory {
  uint64_t epoch = 0;
  std::vector<uint64_t> counted;  // what each counter holds when no window runs
};

// DeviceTables is the tables of one window as bytes, to be copied to device memory (aligned to
// 128).
struct DeviceTables {
  SluiceWindow window = {};  // the scheduler kernel's parameter
  std::vector<std::byte> bytes;
  uint32_t flag_count = 0;
  uint32_t counter_count = 0;
  uint64_t pool_bytes = 0;
  // Places of u64 in `bytes` that are offsets among flags or counters until place() is called.
  std::vector<size_t> flag_places;
  std::vector<size_t> counter_places;

  // place() puts in, once, where in device memory the tables, the flags and the counters lie.
  void place(uint64_t tables, uint64_t flags, uint64_t counters);
  // set_bound() puts in how often a lane looks for one signal before it gives up, ending the kernel
  // by a trap (0: it never does), and the SluiceReport that it fills in before.
  void set_bound(uint32_t most_polls, uint64_t report);
};

// make_device_tables() writes the tables of a window whose slots all have device code, for such
// workers, and takes the next epoch of `signals`. A launch that others wait for as a whole gets a
// counter; so does each group of tasks that is only ever waited for together. `stress` is 0, or the
// seed of random delays. `renumbered`, where not empty, gives for each body's number that in the
// module which runs.
DeviceTables make_device_tables(const Window& window, SignalMemory& signals, const Workers& workers,
                                uint32_t stress = 0, std::span<const uint32_t> renumbered = {});

// set_workers() puts in how many workers there will be; until then none asks for a ticket ahead.
void set_workers(SluiceWindow& window, uint32_t workers);

}  // namespace sluice::megakernel
