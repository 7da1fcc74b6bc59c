#include "hostcuda/driver/memory_watch/block_memory.hpp"

#include <algorithm>
#include <utility>

#include "hostcuda/memory/device_memory.hpp"

namespace sluice::hostcuda {
namespace {

// Beyond that, an access is told as one to no memory at all.
constexpr size_t most_distance = 1 << 20;
// Where no program has memory: a null pointer with an index behind it.
constexpr uintptr_t first_page_end = 64 << 10;

size_t distance_of(uintptr_t address, uintptr_t begin, size_t bytes) {
  if (address < begin) return begin - address;
  return address - begin < bytes ? 0 : address - begin - bytes;
}

}  // namespace

BlockMemory::BlockMemory(MemoryFaults& faults)
    : faults_(faults), all_(faults.watch().memory().all()) {}

void BlockMemory::begin(uint32_t block, uintptr_t scratch, uint64_t scratch_bytes) {
  block_ = block;
  scratch_ = scratch;
  scratch_bytes_ = scratch_bytes;
  shared_bytes_ = 0;
}

void BlockMemory::has_shared(uintptr_t begin, uint64_t bytes) {
  if (shared_bytes_ == bytes && shared_ == begin) return;  // another thread has begun
  if (!shared_written_ || shared_written_bytes_ != bytes) shared_written_.emplace(bytes);
  shared_written_->forget();
  shared_written_bytes_ = bytes;
  shared_ = begin;
  shared_bytes_ = bytes;
}

const BlockMemory::Shared* BlockMemory::find(uintptr_t address) {
  for (const Shared* recent : recent_)
    if (recent != nullptr && address - (*recent)->begin() < (*recent)->of.bytes) return recent;
  const Shared* found = holder(*all_, address);
  if (found == nullptr) return nullptr;
  std::ranges::move_backward(recent_.begin(), recent_.end() - 1, recent_.end());
  recent_.front() = found;
  return found;
}

void BlockMemory::add(MemoryFault fault) {
  is_all_ = false;
  faults_.add(std::move(fault));
}

void BlockMemory::check(const ThreadAccess& access, bool is_misaligned) {
  if (is_shared(access)) {
    if (is_misaligned) add(fault_of(SLUICE_MEMORY_MISALIGNED, access));
    return shared_access(access);
  }
  if (access.address - scratch_ < scratch_bytes_) return;
  const Shared* memory = find(access.address);
  const auto tell = [&](uint32_t what) {
    MemoryFault fault = fault_of(what, access);
    if (memory != nullptr) fault.memory = *memory;
    add(std::move(fault));
  };
  if (is_misaligned) tell(SLUICE_MEMORY_MISALIGNED);
  if (memory == nullptr || !(*memory)->of.covers(access.address, access.bytes))
    return outside(access);
  if ((*memory)->is_gone(faults_.kernel().call)) return tell(SLUICE_MEMORY_FREED);
  if ((*memory)->written &&
      !initialised(access, {&*(*memory)->written, access.address - (*memory)->begin()}, *memory))
    return;
  if (!is_misaligned)
    checked_.add(access.address, access.bytes, (access.kind & access_kind::reads) != 0,
                 (access.kind & access_kind::writes) != 0);
}

// initialised() judges what is read, and marks what is written.
bool BlockMemory::initialised(const ThreadAccess& access, const Place& place,
                              const Shared& memory) {
  WrittenBytes& written = *place.written;
  const bool computes =
      (access.kind & access_kind::reads) != 0 && (access.kind & access_kind::is_moved) == 0;
  const auto missing = computes ? written.missing(place.at, access.bytes) : std::nullopt;
  if (missing) {
    MemoryFault fault = fault_of(SLUICE_MEMORY_NEVER_WRITTEN, access);
    fault.memory = memory;
    fault.first += *missing - place.at;
    add(std::move(fault));
  }
  if ((access.kind & access_kind::writes) == 0) return !missing;
  Place source;
  if ((access.kind & access_kind::has_source) != 0) source = place_of(access.value, access.bytes);
  if (source.written != nullptr && source.written->missing(source.at, access.bytes)) {
    // What was known to be written may no longer be.
    is_all_ = false;
    checked_.clear();
  }
  written.copy(place.at, access.bytes, source.written, source.at);
  return !missing;
}

BlockMemory::Place BlockMemory::place_of(uintptr_t address, size_t bytes) {
  if (lies_in(address, bytes, shared_, shared_bytes_))
    return {&*shared_written_, address - shared_};
  const Shared* memory = find(address);
  const bool is_inside =
      memory != nullptr && (*memory)->written && (*memory)->of.covers(address, bytes);
  if (!is_inside) return {};
  return {&*(*memory)->written, address - (*memory)->begin()};
}

void BlockMemory::shared_access(const ThreadAccess& access) {
  if (lies_in(access.address, access.bytes, shared_, shared_bytes_)) {
    initialised(access, {&*shared_written_, access.address - shared_}, nullptr);
    return;
  }
  MemoryFault fault = fault_of(SLUICE_MEMORY_OUT_OF_BOUNDS, access);
  const uintptr_t end = shared_ + shared_bytes_;
  if (fault.first >= shared_ && fault.first < end) fault.first = end;
  add(std::move(fault));
}

void BlockMemory::outside(const ThreadAccess& access) {
  // What the host has allocated meanwhile.
  all_ = faults_.watch().memory().all();
  recent_ = {};
  if (!variables_) variables_ = variables_of(faults_.kernel());
  const Shared* memory = find(access.address);
  const bool is_inside = memory != nullptr && (*memory)->of.covers(access.address, access.bytes);
  if (!is_inside && is_in_variable(access)) return;
  is_all_ = false;
  if (is_inside) return;
  // What the device does not know may be the host's own, or a thread's local memory.
  const bool begins_in_own = memory != nullptr && (*memory)->of.kind != MemoryKind::registered;
  const bool is_nothing = access.address < first_page_end || device_memory().holds(access.address);
  if (!is_nothing && !begins_in_own) return;
  MemoryFault fault = fault_of(SLUICE_MEMORY_OUT_OF_BOUNDS, access);
  place(fault);
  if (fault.memory != nullptr && fault.memory->is_gone(faults_.kernel().call))
    fault.what = SLUICE_MEMORY_FREED;
  const uintptr_t end = fault.memory != nullptr ? fault.memory->end() : 0;
  if (fault.first < end && fault.last >= end) fault.first = end;
  add(std::move(fault));
}

// place() finds what the access has missed, if it is near anything.
void BlockMemory::place(MemoryFault& fault) const {
  if (fault.access.address < first_page_end) return;
  size_t distance = most_distance;
  const auto is_nearer = [&](uintptr_t begin, size_t bytes) {
    const size_t away = distance_of(fault.access.address, begin, bytes);
    return away < distance && (distance = away, true);
  };
  for (const Shared& one : *all_)
    if (is_nearer(one->begin(), one->of.bytes)) fault.memory = one;
  for (const ModuleVariableAt& variable : *variables_)
    if (is_nearer(variable.begin, variable.bytes)) fault.variable = variable;
  if (fault.variable) fault.memory = nullptr;
}

bool BlockMemory::is_in_variable(const ThreadAccess& access) const {
  return std::ranges::any_of(*variables_, [&](const ModuleVariableAt& variable) {
    return lies_in(access.address, access.bytes, variable.begin, variable.bytes);
  });
}

MemoryFault BlockMemory::fault_of(uint32_t what, const ThreadAccess& access) const {
  MemoryFault fault;
  fault.what = what;
  fault.access = access;
  fault.block = block_;
  fault.first = access.address;
  fault.last = access.address + access.bytes - 1;
  fault.is_shared = is_shared(access);
  fault.shared_begin = shared_;
  fault.shared_bytes = shared_bytes_;
  return fault;
}

}  // namespace sluice::hostcuda
