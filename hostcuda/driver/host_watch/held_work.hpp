// Work that begins only when the host waits or asks for it.
#pragma once

#include <memory>
#include <vector>

#include "hostcuda/driver/stream/stream_queue.hpp"
#include "hostcuda/driver/stream/work.hpp"

namespace sluice::hostcuda {

class Engine;
class HostWatch;

// HeldWork is an engine's part in watching the host (HostWatch): from watch() on it holds what is
// submitted. Until then only is_watched(), host_watch() and ask() may be called. Thread-safe.
class HeldWork {
 public:
  explicit HeldWork(Engine& engine) : engine_(engine) {}
  HeldWork(const HeldWork&) = delete;

  // watch() begins to hold work. Call it before any is submitted.
  void watch(HostWatch* watch);
  bool is_watched() const { return watch_ != nullptr; }
  // host_watch() is null where the host is not watched.
  HostWatch* host_watch() const { return watch_; }

  // submit() is the engine's.
  Ticket submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                std::vector<Ticket> after);
  // want() has the work of the tickets begin: false where some of it may wait for the host.
  bool want(const std::vector<Ticket>& tickets);
  // ask() is whether the work of the tickets is done. Where the host is watched that counts as
  // having seen it, and it is done unless it may wait for the host.
  bool ask(const std::vector<Ticket>& tickets);
  // run_unseen() has the work of the tickets done without the host knowing; false where it was only
  // begun, since it may wait for the host.
  bool run_unseen(const std::vector<Ticket>& tickets);

 private:
  Engine& engine_;
  HostWatch* watch_ = nullptr;
};

}  // namespace sluice::hostcuda
