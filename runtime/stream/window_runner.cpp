#include "runtime/stream/window_runner.hpp"

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/policy/window_account.hpp"
#include "schedule/cache_sizes.hpp"

namespace sluice::runtime {
namespace {

schedule::Machine machine_of(const megakernel::WindowBackend* backend, uint32_t host_workers,
                             uint32_t stress) {
  // Whom a backend's windows are for, it says window by window.
  if (backend != nullptr) {
    return {.task_threads = schedule::device_task_threads,
            .least_nanoseconds = schedule::device_task_nanoseconds,
            .in_runs = true,
            .stress = stress};
  }
  const schedule::CacheSizes caches = schedule::read_cache_sizes();
  const uint64_t own_caches = caches.own * host_workers;
  return {.cache_bytes = schedule::tile_cache_bytes(caches.last, own_caches),
          .workers = host_workers,
          .own_cache_bytes = own_caches,
          .on_host = true,
          .stress = stress};
}

}  // namespace

WindowRunner::WindowRunner(Device& device, megakernel::WindowBackend* backend, Gate& gate,
                           const Config& config)
    : device_(device),
      backend_(backend),
      gate_(gate),
      times_tasks_(config.times_tasks),
      only_what_pays_(config.only_what_pays && backend != nullptr),
      executors_(config.workers),
      planner_(machine_of(backend, executors_.workers(), config.stress)) {}

int WindowRunner::submit(std::shared_ptr<PlannedWindow> window, Ended ended) {
  const StreamKey stream = window->held.stream();
  const InContext context(device_, stream);
  if (window->held.parts().line() != nullptr)
    return submit_together(std::move(window), std::move(ended));
  if (backend_ == nullptr) {
    return device_.enqueue(stream, [this, window = std::move(window), ended = std::move(ended)] {
      run(*window, ended);
    });
  }
  window->plan(planner_, backend_);
  const WithoutWaiting scope(device_);
  return backend_->submit(stream, {window, &window->tables},
                          [this, window, ended = std::move(ended)](int error) {
                            gate_.enter([&](Gate::Lock&) { ended(error != 0, nullptr); });
                          });
}

bool WindowRunner::pays(const LaunchWindow& window) {
  if (!only_what_pays_) return true;
  WindowAccount account;
  for (const HeldLaunch& launch : window.launches()) {
    const auto share = planner_.share_of(
        {.grid = launch.grid,
         .block = launch.block,
         .block_nanoseconds = launch.cost == nullptr ? 0 : launch.cost->nanoseconds()});
    account.add(share);
  }
  const InContext context(device_, window.stream());
  return account.pays(backend_->costs());
}

int WindowRunner::when_done(const StreamKey& stream, std::function<void()> done) {
  const auto tell = [this, done = std::move(done)] { gate_.enter([&](Gate::Lock&) { done(); }); };
  const InContext context(device_, stream);
  if (backend_ == nullptr) return device_.enqueue(stream, tell);
  return backend_->when_done(stream, [tell](int /*error*/) { tell(); });
}

int WindowRunner::submit_together(std::shared_ptr<PlannedWindow> window, Ended ended) {
  const std::vector<StreamKey> streams = window->held.parts().streams();
  void* const line = window->held.parts().line();
  return device_.enqueue_together(
      line, streams,
      [this, window = std::move(window), ended = std::move(ended)](Device::Ends ends) {
        window->held.parts().keep_ends(std::move(ends));
        run(*window, ended);
      });
}

// On a thread of the device, in the order of the window's stream. Planning it only here costs the
// program's thread nothing, and the windows before have measured what blocks cost.
void WindowRunner::run(PlannedWindow& window, const Ended& ended) {
  bool failed = false;
  std::optional<megakernel::TaskTimes> times;
  ++running_;
  try {
    if (plan(window)) {
      if (times_tasks_) times.emplace(executors_.workers());
      executors_.run(window.tables, times ? &*times : nullptr);
    } else {
      run_one_by_one(window.held);
    }
  } catch (...) {
    failed = true;
  }
  // Under the lock to the end, since whoever waits may end the life of this object as soon as it
  // has it.
  gate_.enter([&](Gate::Lock&) {
    --running_;
    ended(failed, times ? &*times : nullptr);
  });
}

// plan() is false where the window has no tables.
bool WindowRunner::plan(PlannedWindow& window) noexcept {
  try {
    window.plan(planner_);
    return true;
  } catch (const std::bad_alloc&) {
    // Without tables the launches are as right, and need less memory.
  } catch (...) {
    gate_.enter([](Gate::Lock&) { throw; });
  }
  return false;
}

}  // namespace sluice::runtime
