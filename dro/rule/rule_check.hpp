// A check of the buffer rule: does it order all that the exact rule orders?
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dro/rule.hpp"
#include "dro/rule/rule_engine.hpp"

namespace sluice::dro {

// RuleCheck follows a program under the exact rule, beside the tracker's buffer rule. Not
// thread-safe.
class RuleCheck {
 public:
  RuleCheck(IslContext& context, const LaunchTable& launches, const CacheLimits& limits)
      : context_(context),
        launches_(launches),
        exact_(Rule::exact, context, launches, limits, nullptr, nullptr) {}

  // exact() is told of buffers, host writes and opaque launches as the tracker's engine is.
  RuleEngine& exact() { return exact_; }

  // launch() compares what both rules found for one launch; `found` are the buffer rule's
  // dependences, by DROs of a RuleEngine. It returns a sentence on the first dependence that the
  // buffer rule loses: whose block edges neither one of its dependences nor a chain of them holds.
  // A DRO is looked at when it is first used, and chains of at most `longest_chain` launches; what
  // the budget does not suffice for is taken to be held.
  std::optional<std::string> launch(LaunchNumber number, LaunchSlot launch,
                                    std::span<const Dependence> found, Budget& budget);

 private:
  static constexpr size_t longest_chain = 64;

  // Past is one earlier launch and its dependences under the buffer rule.
  struct Past {
    LaunchNumber number = 0;
    std::string kernel;
    std::vector<std::pair<LaunchNumber, isl::map>> masters;  // { B[this] -> B[master] }
  };

  bool implied(LaunchNumber master, const isl::map& edges, Budget& budget) const;
  std::string sentence(LaunchNumber master, const Dro& dro) const;
  const std::string& kernel(LaunchSlot launch) const;

  const IslContext& context_;
  const LaunchTable& launches_;
  RuleEngine exact_;
  std::deque<Past> past_;  // ascending; the last is the launch being looked at
};

}  // namespace sluice::dro
