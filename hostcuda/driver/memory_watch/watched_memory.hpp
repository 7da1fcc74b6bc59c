// All memory that the program has allocated, and what it has freed not long ago.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "hostcuda/driver/memory/allocation_table.hpp"
#include "hostcuda/driver/memory/call_site.hpp"
#include "hostcuda/driver/memory/copy_box.hpp"
#include "hostcuda/driver/memory_watch/written_bytes.hpp"

namespace sluice::hostcuda {

// WatchedAllocation is one of them. Calls of the program have numbers, which say what came first.
struct WatchedAllocation {
  WatchedAllocation(const Allocation& allocation, const CallSite& site)
      : of(allocation), allocated(site) {
    // The host writes all other memory without a word.
    if (allocation.kind == MemoryKind::device) written.emplace(allocation.bytes);
  }

  uintptr_t begin() const { return of.address; }
  uintptr_t end() const { return of.address + of.bytes; }
  // is_gone() is true for work of a call that came after the one that freed it, and of all work
  // once it is freed.
  bool is_gone(uint64_t call) const {
    const uint64_t freeing = freed_by.load(std::memory_order_acquire);
    return is_freed.load(std::memory_order_acquire) || (freeing != 0 && freeing < call);
  }

  const Allocation of;
  const CallSite allocated;
  std::atomic<uint64_t> freed_by = 0;  // the call; 0: none
  std::atomic<bool> is_freed = false;
  CallSite freed;                       // good where freed_by is not 0
  std::optional<WrittenBytes> written;  // nothing: all counts as written
};
using WatchedAllocations = std::vector<std::shared_ptr<WatchedAllocation>>;

// WatchedMemory keeps allocations apart and freed ones from being given out again. Thread-safe.
class WatchedMemory final : public AllocationListener, public CopyListener {
 public:
  size_t red_zone(size_t bytes) const override;
  void allocated(const Allocation& allocation) override;
  bool released(const Allocation& allocation, size_t taken) override;

  // all() is sorted by address, freed ones among them.
  std::shared_ptr<const WatchedAllocations> all() const;
  uint64_t next_call() { return ++last_call_; }

  // What a copy, a fill or somebody unseen has written.
  void copied(const Copy& copy) override;
  void filled(const Fill& fill) override;
  void anything_written();

  // freeing() notes a call that frees what begins at an address. It returns the allocation where
  // an earlier call has freed it, live or not.
  std::shared_ptr<WatchedAllocation> freeing(uintptr_t address);

 private:
  using Shared = std::shared_ptr<WatchedAllocation>;
  struct Kept {
    Shared allocation;
    size_t taken = 0;
  };
  void give_back_oldest();
  void write(uintptr_t begin, size_t count, uintptr_t from);

  std::atomic<uint64_t> last_call_ = 0;
  mutable std::mutex mutex_;
  std::map<uintptr_t, Shared> live_;  // by address; guarded by mutex_, as all below
  std::deque<Kept> freed_;            // the oldest first
  size_t freed_bytes_ = 0;
  mutable std::shared_ptr<const WatchedAllocations> all_;  // null: to be made
};

// holder() is the allocation that holds an address; null where none does.
const std::shared_ptr<WatchedAllocation>* holder(const WatchedAllocations& all, uintptr_t address);
}  // namespace sluice::hostcuda
