#include "tools/view/parallelism.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "base/number/divide_up.hpp"

namespace sluice::tools {
namespace {

// So many steps through rows of edges take some seconds.
constexpr uint64_t most_steps = 2'000'000'000;

// Weights are the weights of one launch's blocks.
class Weights {
 public:
  explicit Weights(uint64_t blocks) : blocks_(blocks) {}
  Weights(uint64_t blocks, const dro::TaskRecord& record) : blocks_(blocks) {
    of_block_.reserve(blocks);
    for (size_t i = 0; i < record.tasks.size(); ++i) {
      const dro::TaskRecord::Task& task = record.tasks[i];
      const uint64_t end = record.end_block(i, blocks);
      of_block_.resize(end, static_cast<double>(task.ended - task.begun) /
                                static_cast<double>(end - task.first_block));
    }
  }

  double of(uint64_t block) const { return of_block_.empty() ? 1 : of_block_[block]; }
  double sum() const {
    double total = 0;
    for (uint64_t block = 0; block < blocks_; ++block)
      total += of(block);
    return total;
  }
  double most() const {
    return of_block_.empty() ? 1 : *std::max_element(of_block_.begin(), of_block_.end());
  }

 private:
  uint64_t blocks_;
  std::vector<double> of_block_;  // empty: each block counts one
};

// Finishes are the times at which a launch's blocks are done, with the greatest of each 64.
class Finishes {
 public:
  explicit Finishes(uint64_t blocks) : of_block_(blocks), of_chunk_(divide_up(blocks, chunk)) {}

  void set(uint64_t block, double time) {
    of_block_[block] = time;
    of_chunk_[block / chunk] = std::max(of_chunk_[block / chunk], time);
    last_ = std::max(last_, time);
  }
  // latest() is the greatest of a range, `last` included, and counts its steps.
  double latest(uint64_t first, uint64_t last, uint64_t& steps) const {
    double result = 0;
    for (uint64_t block = first; block <= last; ++steps) {
      const bool whole = block % chunk == 0 && block + chunk - 1 <= last;
      result = std::max(result, whole ? of_chunk_[block / chunk] : of_block_[block]);
      block += whole ? chunk : 1;
    }
    return result;
  }
  double latest() const { return last_; }

 private:
  static constexpr uint64_t chunk = 64;
  std::vector<double> of_block_, of_chunk_;
  double last_ = 0;
};

// BlockSpan follows the block graph launch by launch.
class BlockSpan {
 public:
  explicit BlockSpan(const RecordedRun& run) : run_(run) {
    for (const dro::LaunchSummary& launch : run.summary.launches) {
      for (const auto& [master, id] : launch.record.dependences)
        last_use_[master] = launch.record.number;
    }
  }

  // add() is false once the graph has too many edges to follow.
  bool add(const dro::LaunchRecord& launch, const Weights& weights);
  double span() const { return span_; }

 private:
  double start_of(const dro::LaunchRecord& launch, uint32_t block);

  const RecordedRun& run_;
  std::map<dro::LaunchNumber, dro::LaunchNumber> last_use_;
  std::map<dro::LaunchNumber, Finishes> finishes_;  // of launches that a later one waits for
  double barrier_ = 0;
  double span_ = 0;
  uint64_t steps_ = 0;
};

double BlockSpan::start_of(const dro::LaunchRecord& launch, uint32_t block) {
  double start = barrier_;
  for (const auto& [master, id] : launch.dependences) {
    const auto done = finishes_.find(master);
    if (done == finishes_.end()) continue;  // a launch behind a barrier
    dro::for_each_master_range(run_.tables[run_.summary.dros[id].dro.edges], block, 1,
                               [&](uint32_t first, uint32_t last) {
                                 start = std::max(start, done->second.latest(first, last, steps_));
                               });
  }
  return start;
}

bool BlockSpan::add(const dro::LaunchRecord& launch, const Weights& weights) {
  const bool tracked = !launch.is_opaque();
  if (!tracked) {
    barrier_ = span_ = span_ + weights.most();
    return true;
  }
  const auto blocks = static_cast<uint32_t>(launch.details.grid.count());
  Finishes finishes(blocks);
  for (uint32_t block = 0; block < blocks; ++block) {
    finishes.set(block, start_of(launch, block) + weights.of(block));
    if (++steps_ > most_steps) return false;
  }
  span_ = std::max(span_, finishes.latest());
  std::erase_if(finishes_,
                [&](const auto& done) { return last_use_[done.first] <= launch.number; });
  if (last_use_.count(launch.number) != 0) finishes_.emplace(launch.number, std::move(finishes));
  return true;
}

// LaunchSpan is the same for whole launches.
class LaunchSpan {
 public:
  void add(const dro::LaunchRecord& launch, double most) {
    double start = launch.is_opaque() ? span_ : barrier_;
    for (const auto& [master, id] : launch.dependences)
      start = std::max(start, finish_[master]);
    finish_[launch.number] = start + most;
    span_ = std::max(span_, start + most);
    if (launch.is_opaque()) barrier_ = span_;
  }
  double span() const { return span_; }

 private:
  std::map<dro::LaunchNumber, double> finish_;
  double barrier_ = 0;
  double span_ = 0;
};

}  // namespace

double Parallelism::most_gain(size_t i) const {
  const double least = std::max(block_graph.value_or(0), work / workers[i]);
  return least > 0 ? launch_by_launch_time[i] / least : 1;
}

Result<Parallelism> measure(const RecordedRun& run, Weight weight) {
  std::map<dro::LaunchNumber, const dro::TaskRecord*> times;
  for (const dro::TaskRecord& record : run.tasks)
    times[record.launch] = &record;
  Parallelism result;
  LaunchSpan launches;
  BlockSpan blocks(run);
  bool follows = true;
  for (const dro::LaunchSummary& summary : run.summary.launches) {
    const dro::LaunchRecord& launch = summary.record;
    const uint64_t count = launch.details.grid.count();
    const auto timed = times.find(launch.number);
    if (weight == Weight::nanoseconds && timed == times.end()) {
      return unsupported(fmt::format("launch {} has no times of tasks", launch.number),
                         run.summary.program);
    }
    const Weights weights =
        weight == Weight::blocks ? Weights(count) : Weights(count, *timed->second);
    const double sum = weights.sum(), most = weights.most();
    result.work += sum;
    result.launch_by_launch += most;
    for (size_t i = 0; i < Parallelism::workers.size(); ++i) {
      const double shared = sum / Parallelism::workers[i];
      result.launch_by_launch_time[i] +=
          std::max(most, weight == Weight::blocks ? std::ceil(shared) : shared);
    }
    launches.add(launch, most);
    follows = follows && blocks.add(launch, weights);
  }
  result.launch_graph = launches.span();
  if (follows) result.block_graph = blocks.span();
  return result;
}

}  // namespace sluice::tools
