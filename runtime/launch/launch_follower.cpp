#include "runtime/launch/launch_follower.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {

LaunchFollower::LaunchFollower(dro::Rule rule, std::unique_ptr<dro::JournalWriter> journal)
    : journal_(std::move(journal)),
      tracker_(rule,
               journal_ != nullptr ? static_cast<dro::Observer*>(journal_.get()) : &warnings_) {}

Dependences LaunchFollower::follow(const Known& launch, uint64_t stream,
                                   std::string_view passed_through) {
  if (journal_ != nullptr) {
    const LaunchCall& call = *launch.kernel.call;
    journal_->describe_launch({.kernel = launch.kernel.function->kernel->name,
                               .grid = call.grid,
                               .block = call.block,
                               .stream = stream,
                               .passed_through = passed_through});
  }
  found_.clear();
  tracker_.launch({launch.number, launch.bound->footprint->id, launch.bound->arguments}, found_,
                  launch.bound->known);
  return found_;
}

void LaunchFollower::pass(dro::LaunchNumber number, const dro::LaunchView& launch,
                          const std::string& reason) {
  if (journal_ != nullptr) journal_->describe_launch(launch);
  tracker_.opaque_launch(number, reason);
}

void LaunchFollower::tell(const Policy::Verdict& verdict) {
  const std::string text =
      verdict.aside
          ? fmt::format(
                "after launch {}: plain launches were {:.2f} x as fast as tasks, so Sluice "
                "steps aside in this phase of the program",
                last_, verdict.plain_speed)
          : fmt::format(
                "after launch {}: tasks are no slower than plain launches any more ({:.2f} x "
                "as fast), so launches run as tasks again",
                last_, 1 / verdict.plain_speed);
  if (journal_ != nullptr) {
    journal_->note(dro::WarningRecord{text});
  } else {
    log::info("{}", text);
  }
}

}  // namespace sluice::runtime
