// Accesses of the host to memory that work of the device may still use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hostcuda/driver/host_watch/spans.hpp"
#include "hostcuda/driver/host_watch/watched_run.hpp"
#include "hostcuda/driver/stream/stream_queue.hpp"
#include "hostcuda/driver/stream/work.hpp"
#include "hostcuda/host_touch.h"

namespace sluice::hostcuda {

class AllocationTable;
class Driver;

// HostWatch knows the work that the host has not seen done, and keeps the host from the pages that
// this work may use: they are inaccessible until the host waits for it, or touches them. A touch
// lets the work run first, kernels traced, and is told where it conflicts with what the work did.
// Work that has run so stays unseen, with the bytes that it used. Thread-safe. Its lock is taken
// under the engine's, never the other way round.
class HostWatch {
 public:
  HostWatch(const AllocationTable& memory, SluiceHostTold told, void* data)
      : memory_(memory), told_(told), data_(data) {}

  // Entry is a piece of work that the host has not seen done.
  struct Entry {
    Ticket ticket;
    std::vector<Ticket> after;
    HostUse use;
    std::string name;
    bool may_wait = false, is_told = false;
    Spans reads, writes;          // bytes
    Spans claims;                 // whole pages
    std::vector<std::byte> kept;  // the source of a copy
    Span source;
    std::array<void*, 16> site{};
    size_t depth = 0;
  };
  // made() is work that is about to be submitted by the calling thread, without any lock: to walk
  // the stack may take the dynamic linker's.
  static std::shared_ptr<Entry> made(const Work& work);
  // submitted() says that it is at the end of a queue now, and may begin after `after` as well.
  void submitted(std::shared_ptr<Entry> entry, const Ticket& ticket,
                 const std::vector<Ticket>& after);
  // release() lets all work run that comes before the tickets, and them: it gives their pages free
  // and returns what of each queue may begin. `may_wait`: some of it may wait for the host.
  std::vector<Ticket> release(const std::vector<Ticket>& tickets, bool* may_wait);
  // seen() says that the host knows all work before the tickets, and them, to be done.
  void seen(const std::vector<Ticket>& tickets);
  // add_unseen() adds the queues with unseen work that are ordered before one; null: before the
  // host.
  void add_unseen(const StreamQueue* queue, std::vector<Ticket>& tickets);

  // run() runs a piece of work, the first of its queue.
  CUresult run(const StreamQueue& queue, const Work& work, BlockPool& pool);

  // Touch is an access of the host that faulted.
  struct Touch {
    uintptr_t address = 0;
    bool writes = false;
    std::array<void*, 16> site{};
    size_t depth = 0;
  };
  // is_ours() is whether nobody may access the address because of the watch.
  bool is_ours(uintptr_t address);
  // open() lets everybody access the page.
  void open(uintptr_t address);
  // before() lists the work that must have run before a touch is served; end() tells of a conflict
  // and opens the page.
  std::vector<Ticket> before(const Touch& touch);
  void end(const Touch& touch);
  // give_up() serves it untold.
  void give_up(const Touch& touch);
  // open_all() is for a forked child, in which no other thread runs.
  void open_all();

 private:
  using Entries = std::vector<std::shared_ptr<Entry>>;

  Entries closure(const std::vector<Ticket>& tickets) const;
  void claim(Entry& entry);
  void keep_source(Entry& entry);
  void protect();
  Spans host_memory() const;
  Spans pages_of(const Spans& bytes) const;
  void tell(Entry& entry, const Touch& touch, bool entry_writes);

  const AllocationTable& memory_;
  const SluiceHostTold told_;
  void* const data_;
  mutable std::mutex mutex_;
  Entries entries_;  // in the order of their calls
  Spans protected_;
  bool is_tracing_ = false;
};

// watch_host() begins to watch; false where it has begun. Call it before any work is submitted.
bool watch_host(Driver& driver, SluiceHostTold told, void* data);
// While it lives, the calling thread's accesses are the device's.
class DeviceAccess {
 public:
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
};

}  // namespace sluice::hostcuda
