#include "hostcuda/driver/stream/joined_work.hpp"

#include <utility>

#include "base/thread/brief_lock.hpp"

namespace sluice::hostcuda {
namespace {

// EndOfPart stands in a queue for what it has in work of several.
class EndOfPart final : public Work {
 public:
  CUresult run(BlockPool&) const override { return CUDA_SUCCESS; }
  // Whoever asks for the work counts the launches in it.
  bool takes_room() const override { return false; }
};

}  // namespace

void JoinedWork::submit(const std::shared_ptr<StreamQueue>& queue, SharedWork work,
                        const std::vector<Part>& parts) {
  const auto end = std::make_shared<const EndOfPart>();
  Engine::Lock lock = lock_briefly_held(engine_.mutex_);
  std::vector<Ticket> after;
  for (const Part& part : parts) {
    for (Ticket& ticket : engine_.order_.before(part.queue)) {
      if (!ticket.is_done()) after.push_back(std::move(ticket));
    }
  }
  for (const Part& part : parts) {
    std::vector<Ticket> after_part = {part.end};
    engine_.order_.order_before(*part.queue, after_part);
    engine_.order_.add(part.queue, end, std::move(after_part));
  }
  engine_.order_.add(queue, std::move(work), std::move(after));
  engine_.provide_thread(lock);
}

bool JoinedWork::ends_by_itself(const std::shared_ptr<StreamQueue>& queue) {
  const Engine::Lock lock = lock_briefly_held(engine_.mutex_);
  return StreamOrder::ends_by_itself(engine_.order_.before(queue));
}

}  // namespace sluice::hostcuda
