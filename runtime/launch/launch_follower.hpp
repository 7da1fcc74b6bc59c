// What launches depend on, and the journal of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dro/journal/journal.hpp"
#include "dro/rule/tracker.hpp"
#include "runtime/launch/understood.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

using Dependences = std::span<const dro::Dependence>;

// LaunchFollower numbers launches and follows them. Not thread-safe.
class LaunchFollower {
 public:
  // `journal` may be null.
  LaunchFollower(dro::Rule rule, std::unique_ptr<dro::JournalWriter> journal);

  dro::LaunchNumber next_number() { return ++last_; }
  uint64_t launches() const { return last_; }

  // follow() finds what a launch depends on, valid until the next call. The journal says on which
  // stream it was and, where `passed_through` is not empty, why it does not run as tasks.
  Dependences follow(const Known& launch, uint64_t stream, std::string_view passed_through);
  // pass() is a launch of which nothing is known: it is ordered after all before it, and all after
  // it after it.
  void pass(dro::LaunchNumber number, const dro::LaunchView& launch, const std::string& reason);
  // tell() puts a verdict of the policy into the journal, or else the log.
  void tell(const Policy::Verdict& verdict);
  // finish() completes the journal. Nothing else may be called after it but tracker().counters().
  void finish() { journal_.reset(); }

  dro::DependenceTracker& tracker() { return tracker_; }
  dro::JournalWriter* journal() const { return journal_.get(); }

 private:
  std::unique_ptr<dro::JournalWriter> journal_;  // outlives tracker_
  dro::WarningLog warnings_;                     // for a tracker without a journal
  dro::DependenceTracker tracker_;
  dro::LaunchNumber last_ = 0;
  std::vector<dro::Dependence> found_;
};

}  // namespace sluice::runtime
