// Launches that come again together, as those of a graph do.
//
// What a launch does to the live launches depends on which states have launches, and never on
// these launches' numbers. So once a row of launches has left all buffers that it touches as it
// found them, but for numbers, it will do so at each further run: the dependences it finds are the
// same, of some launches on the same masters as ever, and of all others on masters as far back as
// the last time. What a run leaves is then written down at once.
//
// Why numbers are enough. Each launch stands in one state, and a run moves launches from state to
// state. A state whose launches a run leaves as they were has lost none; then it loses none in any
// run. A state which has launches as far on as the row is long got them from the row itself or from
// states of that kind. In a third kind launches only gather, of the row or of the second kind,
// which nobody waits for or moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dro/types.hpp"

namespace sluice::dro {

class LaunchTable;
class LiveLaunches;
class RuleEngine;

// RowLaunch is one launch of a row; its dependences follow those of the ones before it.
struct RowLaunch {
  InternedId interned = 0;
  uint32_t dependence_count = 0;
  friend bool operator==(const RowLaunch&, const RowLaunch&) = default;
};

// RowDependence is one of a row's launch: on the launch of that number, or on the one so far before
// it.
struct RowDependence {
  bool is_fixed = false;
  LaunchNumber master = 0;
  DroId dro = 0;
  EdgeTableId edges = 0;

  LaunchNumber master_of(LaunchNumber slave) const { return is_fixed ? master : slave - master; }
};

// LaunchRow is what is known of a row, whose owner tells of each run:
// DependenceTracker::begin_row(), note() after each launch(), DependenceTracker::end_row(). A run
// that ends otherwise counts for nothing. Not thread-safe.
class LaunchRow {
 public:
  LaunchRow();
  ~LaunchRow();
  LaunchRow(const LaunchRow&) = delete;
  LaunchRow& operator=(const LaunchRow&) = delete;

  // is_known() is whether the next run can be repeated, if it comes next.
  bool is_known() const { return step_ == Step::known; }

  // Of the last run that was told of.
  size_t size() const { return launches_.size(); }
  std::span<const RowLaunch> launches() const { return launches_; }
  std::span<const RowDependence> dependences() const { return dependences_; }
  InternedId last_interned() const { return last_interned_; }  // the largest
  LaunchNumber first_fixed() const { return first_fixed_; }    // the smallest of fixed masters

  // note() tells of the launch that the tracker has just followed: `known` is as it left it.
  void note(const KnownLaunch& known, std::span<const Dependence> found);

 private:
  friend class DependenceTracker;
  struct Seen;
  // What a run adds to the tracker's figures.
  struct Figures {
    uint64_t dependences = 0;
    uint64_t edges = 0;
    uint64_t effort = 0;
  };

  // `moment` is the tracker's count of all that it was told. begin() begins a run there, end() ends
  // it; is_repeat_at() is whether a run that began there would leave what repeat() does.
  void begin(uint64_t moment, const Figures& figures);
  void end(uint64_t moment, LaunchNumber first, const Figures& figures, const LaunchTable& launches,
           RuleEngine& engine);
  bool is_repeat_at(uint64_t moment) const { return step_ == Step::known && moment_ == moment; }
  const Figures& repeat(LaunchNumber first, LiveLaunches& live);
  std::span<const uint32_t> slots() const { return slots_; }

  enum class Step { unknown, seen, compared, known };
  bool compare_states(LaunchNumber first, const RuleEngine& engine);
  bool compare_dependences(LaunchNumber first);
  void look_later();

  // A row is compared so many times one after the other; where it does not come to be known it is
  // looked at ever more rarely, at last so many runs apart.
  static constexpr uint64_t most_tries = 4;
  static constexpr uint64_t rarest = 256;

  Step step_ = Step::unknown;
  bool is_told_ = false;  // this run
  uint64_t moment_ = 0;   // where the last run that was looked at ended
  uint64_t begun_ = 0;    // where this one began
  uint64_t apart_ = 1;
  uint64_t skipped_ = 0;
  uint64_t tries_ = 0;
  Figures figures_;  // of a run; while one goes on, the tracker's before it
  std::vector<uint32_t> slots_;
  std::vector<RowLaunch> launches_;
  std::vector<RowDependence> dependences_;
  InternedId last_interned_ = 0;
  LaunchNumber first_fixed_ = UINT64_MAX;
  std::unique_ptr<Seen> seen_;
};

}  // namespace sluice::dro
