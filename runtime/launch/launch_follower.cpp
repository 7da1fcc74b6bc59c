#include "runtime/launch/launch_follower.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "runtime/code/kernel.hpp"

namespace sluice::runtime {
namespace {

dro::LaunchView view_of(const Known& launch, const dro::StreamName& stream,
                        std::string_view passed_through) {
  const LaunchCall& call = *launch.kernel.call;
  return {.kernel = launch.kernel.function->kernel->name,
          .grid = call.grid,
          .block = call.block,
          .stream = stream,
          .passed_through = passed_through};
}

}  // namespace

void LaunchFollower::Heard::open(const dro::LaunchView& launch) {
  kernel_ = launch.kernel;
  passed_through_ = launch.passed_through;
  searched_ = launch;
  searched_.kernel = kernel_;
  searched_.passed_through = passed_through_;
  claim_ = Claim::open;
}

bool LaunchFollower::Heard::give_up() {
  Claim open = Claim::open;
  return claim_.compare_exchange_strong(open, Claim::late);
}

void LaunchFollower::Heard::note(dro::Record record) {
  if (journal_ != nullptr) return journal_->note(std::move(record));
  dro::WarningLog().note(std::move(record));
}

void LaunchFollower::Heard::claim() {
  Claim claim = Claim::open;
  claim_.compare_exchange_strong(claim, Claim::found);
  if (journal_ == nullptr) return;
  if (claim == Claim::late && passed_through_.empty()) searched_.passed_through = why_late;
  if (claim == Claim::open || claim == Claim::late) journal_->describe_launch(searched_);
  claim_ = Claim::none;
}

void LaunchFollower::Heard::on_launch(const dro::LaunchEntry& entry, dro::InternedId interned,
                                      std::span<const dro::Dependence> found) {
  claim();
  if (journal_ != nullptr) journal_->on_launch(entry, interned, found);
}

void LaunchFollower::Heard::on_row(const dro::LaunchRow& row, dro::LaunchNumber first) {
  if (journal_ != nullptr) journal_->on_row(row, first);
}

void LaunchFollower::Heard::on_given_up(const dro::LaunchEntry& entry, dro::InternedId interned) {
  claim();
  if (journal_ != nullptr) journal_->on_given_up(entry, interned);
}

void LaunchFollower::Heard::on_opaque_launch(dro::LaunchNumber number, const std::string& reason) {
  if (journal_ != nullptr) journal_->on_opaque_launch(number, reason);
}

LaunchFollower::LaunchFollower(Background& background, dro::Rule rule,
                               std::unique_ptr<dro::JournalWriter> journal, bool follows)
    : journal_(std::move(journal)),
      heard_(journal_.get()),
      tracker_(background, rule, &heard_, follows) {}

// A journal has all that a launch depends on.
dro::LaunchEntry LaunchFollower::entry_of(const Known& launch, dro::LaunchNumber held) const {
  return {launch.number, launch.bound->footprint->id, launch.bound->arguments,
          journal_ == nullptr ? held : 0};
}

bool LaunchFollower::knows(const Known& launch) {
  return tracker_.get().knows(entry_of(launch, 0), launch.bound->known);
}

std::optional<Dependences> LaunchFollower::follow(const Known& launch,
                                                  const dro::StreamName& stream,
                                                  std::string_view passed_through,
                                                  dro::LaunchNumber held) {
  if (journal_ != nullptr) journal_->describe_launch(view_of(launch, stream, passed_through));
  found_.clear();
  const bool is_followed =
      tracker_.get().launch(entry_of(launch, held), found_, launch.bound->known);
  if (!is_followed) row_ = nullptr;
  if (row_ != nullptr) row_->note(launch.bound->known, found_);
  return is_followed ? std::optional<Dependences>(found_) : std::nullopt;
}

void LaunchFollower::begin_row(dro::LaunchRow& row) {
  if (tracker_.is_lent()) return;
  tracker_.get().begin_row(row);
  row_ = &row;
  row_first_ = last_ + 1;
}

bool LaunchFollower::end_row() {
  dro::LaunchRow* const row = std::exchange(row_, nullptr);
  if (row == nullptr || tracker_.is_lent()) return false;
  tracker_.get().end_row(*row, row_first_);
  return row->is_known();
}

bool LaunchFollower::repeat(dro::LaunchRow& row) {
  const dro::LaunchNumber first = last_ + 1;
  if (tracker_.is_lent() || (journal_ != nullptr && !journal_->can_repeat(row, first)) ||
      !tracker_.get().repeat(row, first)) {
    return false;
  }
  last_ += row.size();
  return true;
}

std::shared_ptr<const LaunchFollower::Search> LaunchFollower::begin(const Known& launch,
                                                                    const dro::StreamName& stream,
                                                                    std::string_view passed_through,
                                                                    dro::LaunchNumber held,
                                                                    Policy::Clock clock) {
  row_ = nullptr;
  heard_.open(view_of(launch, stream, passed_through));
  auto search = std::make_shared<Search>();
  tracker_.lend([search, clock, entry = entry_of(launch, held),
                 arguments = launch.bound->arguments](dro::DependenceTracker& tracker) mutable {
    entry.arguments = arguments;
    const int64_t began = clock();
    const uint64_t effort = tracker.effort();
    search->is_followed = tracker.launch(entry, search->found);
    search->nanoseconds = clock() - began;
    search->steps = tracker.effort() - effort;
  });
  return search;
}

bool LaunchFollower::give_up() {
  if (heard_.give_up()) return true;
  tracker_.wait();
  return false;
}

void LaunchFollower::pass(dro::LaunchNumber number, const dro::LaunchView& launch,
                          const std::string& reason) {
  row_ = nullptr;
  const auto say = [this](const dro::LaunchView& view) {
    if (journal_ != nullptr) journal_->describe_launch(view);
  };
  if (!tracker_.is_lent()) {
    say(launch);
    tracker_.get().opaque_launch(number, reason);
    return;
  }
  tracker_.tell([say, number, launch, kernel = std::string(launch.kernel),
                 reason](dro::DependenceTracker& tracker) {
    dro::LaunchView view = launch;
    view.kernel = kernel;
    view.passed_through = {};
    say(view);
    tracker.opaque_launch(number, reason);
  });
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
  tell(text);
}

void LaunchFollower::tell(const std::string& text) {
  if (journal_ != nullptr) {
    journal_->note(dro::WarningRecord{text});
  } else {
    log::info("{}", text);
  }
}

// Only a journal is worth waiting for.
void LaunchFollower::finish() {
  if (journal_ == nullptr) return;
  tracker_.wait();
  tracker_.get().settle();
  journal_.reset();
}

}  // namespace sluice::runtime
