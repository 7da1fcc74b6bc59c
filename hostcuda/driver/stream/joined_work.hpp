// Work in the order of several queues.
#pragma once

#include <memory>
#include <vector>

#include "hostcuda/driver/stream/engine.hpp"

namespace sluice::hostcuda {

// JoinedWork is an engine's part in that. Thread-safe.
class JoinedWork {
 public:
  // Part is a queue that goes on, behind the work, when `end`, of StreamOrder::promise(), is kept.
  struct Part {
    std::shared_ptr<StreamQueue> queue;
    Ticket end;
  };

  explicit JoinedWork(Engine& engine) : engine_(engine) {}

  // submit() puts work at the end of a queue; it begins after all work of the parts too.
  void submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
              const std::vector<Part>& parts);

  // ends_by_itself() is whether all that work submitted to the queue now would wait for ends
  // whatever the host does.
  bool ends_by_itself(const std::shared_ptr<StreamQueue>& queue);

 private:
  Engine& engine_;
};

}  // namespace sluice::hostcuda
