// Plans of windows that come again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/container_hash/hash.hpp>

#include "schedule/machine.hpp"
#include "schedule/plan.hpp"

namespace sluice::schedule {

// KnownPlans keeps the plans of windows that have come twice: a loop's windows are equal but for
// pointers and numbers that their launches are given. It is bounded, and forgets all rather than
// grow. Not thread-safe.
class KnownPlans {
 public:
  // find() is the plan of an equal window for the same machine, or null. What `launches` are cut
  // into is given by `cut`; `computes` is what else of their measured costs a plan depends on.
  const Plan* find(std::span<const Launch> launches, const Plan& cut, const Machine& machine,
                   bool computes);
  // keep() keeps the plan of the window that find() has just not found, if that came before.
  void keep(const Plan& plan);
  void forget();

 private:
  static constexpr size_t most_tasks = size_t{1} << 19;  // of all plans: 8 MiB
  static constexpr size_t most_seen = 1024;
  using Key = std::vector<uint64_t>;

  void write_key(std::span<const Launch> launches, const Plan& cut, const Machine& machine,
                 bool computes);

  Key key_;  // of the last window
  std::vector<uint64_t> buffers_;
  std::unordered_map<Key, Plan, boost::hash<Key>> plans_;
  std::unordered_set<size_t> seen_;  // hashes of keys
  size_t tasks_ = 0;
};

// Buffers go in by the places where they first came, since plans ask only which are the same.
inline void KnownPlans::write_key(std::span<const Launch> launches, const Plan& cut,
                                  const Machine& machine, bool computes) {
  key_.assign({machine.cache_bytes, machine.workers, computes ? 1U : 0U, launches.size()});
  buffers_.clear();
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch& launch = launches[i];
    const LaunchTasks& tasks = cut.launches[i];
    key_.insert(key_.end(), {tasks.block_count | uint64_t{tasks.cut.blocks_per_task} << 32U,
                             launch.dependences.size() | uint64_t{launch.touched.size()} << 32U});
    for (const Dependence& dependence : launch.dependences)
      key_.insert(key_.end(), {dependence.master, reinterpret_cast<uint64_t>(dependence.edges)});
    for (const TouchedBuffer& touched : launch.touched) {
      const auto place = std::ranges::find(buffers_, touched.buffer);
      key_.insert(key_.end(), {static_cast<uint64_t>(place - buffers_.begin()), touched.bytes});
      if (place == buffers_.end()) buffers_.push_back(touched.buffer);
    }
  }
}

inline const Plan* KnownPlans::find(std::span<const Launch> launches, const Plan& cut,
                                    const Machine& machine, bool computes) {
  write_key(launches, cut, machine, computes);
  const auto found = plans_.find(key_);
  return found == plans_.end() ? nullptr : &found->second;
}

inline void KnownPlans::keep(const Plan& plan) {
  if (seen_.size() >= most_seen) seen_.clear();
  if (seen_.insert(boost::hash<Key>()(key_)).second) return;
  const size_t tasks = plan.tasks.size() + plan.runs.size() + plan.launches.size();
  if (tasks_ + tasks > most_tasks) forget();
  if (tasks > most_tasks) return;
  tasks_ += tasks;
  plans_.emplace(key_, plan);
}

inline void KnownPlans::forget() {
  plans_.clear();
  tasks_ = 0;
}

}  // namespace sluice::schedule
