// Accesses of kernels to memory that they must not access, for `sluice check --only accesses`.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "hostcuda/driver/memory_watch/watched_memory.hpp"
#include "hostcuda/memory_fault.h"

namespace sluice::hostcuda {

// MemoryWatch is who hears of them for the whole device. Thread-safe.
class MemoryWatch {
 public:
  // get() is null where nobody asked. watch() is false where somebody did before.
  static MemoryWatch* get();
  static bool watch(AllocationTable& table, SluiceMemoryTold told, void* data);

  MemoryWatch(SluiceMemoryTold told, void* data) : told_(told), data_(data) {}

  WatchedMemory& memory() { return memory_; }
  // tell() tells of what was not told of that kernel, line and allocation.
  void tell(const SluiceMemoryFault& fault);
  // frees() hears of each call that frees; `is_valid`: the address is one that it may free.
  void frees(uintptr_t address, bool is_valid);
  void tell_leaks();

 private:
  WatchedMemory memory_;
  const SluiceMemoryTold told_;
  void* const data_;
  std::mutex mutex_;
  // By what it is, kernel, line, and who allocated the memory: a loop allocates anew each time.
  std::set<std::tuple<uint32_t, std::string, std::string, uint32_t, std::vector<void*>>> told_of_;
};

// note_free() tells the watch, if there is one, of a call that frees; not of memory of a graph,
// which lives on.
void note_free(uintptr_t address, bool is_valid);

// place_in() describes the memory that an access missed or came to, null: none.
void place_in(SluiceMemoryFault& fault, const WatchedAllocation* memory);

}  // namespace sluice::hostcuda
