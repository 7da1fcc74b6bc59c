#include "hostcuda/driver/memory_watch/memory_watch.hpp"

#include <atomic>
#include <memory>
#include <vector>

#include "hostcuda/driver/memory/pool.hpp"

namespace sluice::hostcuda {
namespace {

std::atomic<MemoryWatch*> the_memory_watch = nullptr;

SluiceCallSite told_site(const CallSite& site) {
  return {site.callers.data(), site.depth};
}

}  // namespace

MemoryWatch* MemoryWatch::get() {
  return the_memory_watch.load(std::memory_order_acquire);
}

bool MemoryWatch::watch(AllocationTable& table, SluiceMemoryTold told, void* data) {
  if (get() != nullptr) return false;
  auto* made = new MemoryWatch(told, data);
  table.listen(&made->memory_);
  listen_to_copies(&made->memory_);
  the_memory_watch.store(made, std::memory_order_release);
  return true;
}

void MemoryWatch::tell(const SluiceMemoryFault& fault) {
  const auto text = [](const char* string) { return std::string(string ? string : ""); };
  const std::lock_guard lock(mutex_);
  const uint32_t line = fault.access.file != nullptr ? fault.access.line : fault.access.ptx_line;
  const std::vector<void*> allocated(fault.allocated.callers,
                                     fault.allocated.callers + fault.allocated.depth);
  const auto key =
      std::tuple(fault.what, text(fault.access.kernel), text(fault.access.file), line, allocated);
  if (fault.access.kernel == nullptr || told_of_.insert(key).second) told_(data_, &fault);
}

void MemoryWatch::frees(uintptr_t address, bool is_valid) {
  const std::shared_ptr<WatchedAllocation> freed = memory_.freeing(address);
  if (freed == nullptr && is_valid) return;
  const CallSite site = CallSite::of_this_call();
  const auto all = memory_.all();
  SluiceMemoryFault fault = {};
  fault.what = freed != nullptr ? SLUICE_MEMORY_DOUBLE_FREE : SLUICE_MEMORY_WRONG_FREE;
  fault.first_byte = fault.last_byte = static_cast<int64_t>(address);
  const auto* within = holder(*all, address);
  place_in(fault, freed != nullptr ? freed.get() : within != nullptr ? within->get() : nullptr);
  fault.site = told_site(site);
  tell(fault);
}

void MemoryWatch::tell_leaks() {
  for (const auto& allocation : *memory_.all()) {
    const MemoryKind kind = allocation->of.kind;
    const bool is_programs = kind == MemoryKind::device || kind == MemoryKind::managed ||
                             kind == MemoryKind::host || kind == MemoryKind::array;
    const bool is_graphs = pools().graph_memory.knows(allocation->begin());
    if (!is_programs || is_graphs || allocation->is_gone(UINT64_MAX)) continue;
    SluiceMemoryFault fault = {};
    fault.what = SLUICE_MEMORY_LEAK;
    fault.first_byte = static_cast<int64_t>(allocation->begin());
    place_in(fault, allocation.get());
    fault.site = fault.allocated;
    tell(fault);
  }
}

void note_free(uintptr_t address, bool is_valid) {
  MemoryWatch* watch = MemoryWatch::get();
  if (watch != nullptr && !pools().graph_memory.knows(address)) watch->frees(address, is_valid);
}

void place_in(SluiceMemoryFault& fault, const WatchedAllocation* memory) {
  if (memory == nullptr) return;
  fault.memory = kind_text(memory->of.kind);
  fault.memory_bytes = memory->of.bytes;
  fault.first_byte -= static_cast<int64_t>(memory->begin());
  fault.last_byte -= static_cast<int64_t>(memory->begin());
  fault.allocated = told_site(memory->allocated);
  if (memory->freed_by.load(std::memory_order_acquire) != 0) fault.freed = told_site(memory->freed);
}

}  // namespace sluice::hostcuda
