// Who looks at launches beside the runtime itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "base/number/range.hpp"
#include "dro/types.hpp"
#include "megakernel/host/task_times.hpp"
#include "runtime/launch/understood.hpp"
#include "runtime/stream/planned_window.hpp"

namespace sluice::dro {
class JournalWriter;
}

namespace sluice::runtime {

// Observer hears of what the runtime does, under the runtime's lock.
class Observer {
 public:
  // Wants is what an observer needs of the runtime, whatever that costs.
  struct Wants {
    bool pointers = false;    // Known::pointers
    bool task_times = false;  // window_ran()
  };
  virtual ~Observer() = default;
  virtual Wants wants() const = 0;

  // add_footprint() comes before the first launch of a footprint. No launch has it any more after
  // footprint_dropped(), or before another with the same id.
  virtual void add_footprint(dro::FootprintId, const analysis::Footprint&) {}
  virtual void footprint_dropped(dro::FootprintId) {}
  virtual void buffer_destroyed(dro::BufferId) {}
  // written() is bytes of a buffer that a copy or memset has written.
  virtual void written(dro::BufferId, const Range&) {}
  // launched() is a launch that was understood, in program order; unchecked() one that nobody can
  // look at.
  virtual void launched(const Known&) {}
  virtual void unchecked(const std::string& /*kernel*/, const std::string& /*reason*/) {}
  // watch() is what runs the blocks of a launch in place of the executor; null: nothing does.
  virtual std::shared_ptr<megakernel::BlockRunner> watch(const Known&) { return nullptr; }
  // window_opened() begins to hold back launches of a stream, window_closed() gives them to the
  // device.
  virtual void window_opened(const void* /*stream*/) {}
  virtual void window_closed(const void* /*stream*/) {}
  virtual void window_ran(const PlannedWindow&, const megakernel::TaskTimes&) {}
  // finished() comes once, last of all; `journal` may be null.
  virtual void finished(dro::JournalWriter* /*journal*/) {}
};

// Observers are those of one runtime, in most programs none.
class Observers {
 public:
  Observers() = default;
  // The last goes first: it may hold what one before has given it.
  ~Observers() {
    while (!all_.empty())
      all_.pop_back();
  }
  Observers(const Observers&) = delete;
  Observers& operator=(const Observers&) = delete;

  void add(std::unique_ptr<Observer> observer) {
    const Observer::Wants wants = observer->wants();
    wants_.pointers |= wants.pointers;
    wants_.task_times |= wants.task_times;
    all_.push_back(std::move(observer));
  }
  const Observer::Wants& wants() const { return wants_; }

  // tell() calls a function of each: tell(&Observer::buffer_destroyed, buffer).
  template <class... Taken, class... Given>
  void tell(void (Observer::*what)(Taken...), const Given&... given) const {
    for (const auto& observer : all_)
      (observer.get()->*what)(given...);
  }
  std::shared_ptr<megakernel::BlockRunner> watch(const Known& launch) const {
    std::shared_ptr<megakernel::BlockRunner> runner;
    for (size_t i = 0; i < all_.size() && runner == nullptr; ++i)
      runner = all_[i]->watch(launch);
    return runner;
  }

 private:
  std::vector<std::unique_ptr<Observer>> all_;
  Observer::Wants wants_;
};

}  // namespace sluice::runtime
