#include "dro/rule/launch_row.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dro/rule/rule_engine.hpp"

namespace sluice::dro {
namespace {

// LiveHere is what is live in some buffers.
struct LiveHere {
  std::vector<BufferSlot> buffers;
  std::vector<HullIndex> indexes;  // of these
  std::vector<StateId> states;     // that stand in these
  std::vector<LaunchRuns> numbers;
};

// Runs of numbers, and states, that are compared: where there is more, rows are not looked at.
constexpr size_t most_runs = size_t{1} << 16;

// live_in() is nothing where that is too much.
std::optional<LiveHere> live_in(std::vector<BufferSlot> buffers, const LiveLaunches& live) {
  size_t runs = 0;
  for (const BufferSlot buffer : buffers) {
    live.index(buffer).visit_all([&](StateId state) { runs += live.launches(state).run_count(); });
    if (runs > most_runs) return std::nullopt;
  }
  LiveHere here;
  here.buffers = std::move(buffers);
  for (const BufferSlot buffer : here.buffers) {
    here.indexes.push_back(live.index(buffer));
    here.indexes.back().visit_all([&](StateId state) { here.states.push_back(state); });
  }
  std::ranges::sort(here.states);
  here.states.erase(std::ranges::unique(here.states).begin(), here.states.end());
  for (const StateId state : here.states)
    here.numbers.push_back(live.launches(state));
  return here;
}

std::vector<BufferSlot> buffers_of(std::span<const uint32_t> slots, const LaunchTable& launches) {
  std::vector<BufferSlot> buffers;
  for (const LaunchSlot slot : slots)
    for (const BufferPlace& place : launches.launch(slot).places)
      buffers.push_back(place.slot);
  std::ranges::sort(buffers);
  buffers.erase(std::ranges::unique(buffers).begin(), buffers.end());
  return buffers;
}

}  // namespace

struct LaunchRow::Seen {
  LiveHere before;  // the last run that was looked at
  LiveHere after;
  LiveLaunches::Repeat left;  // by that run
  // Of the run before the last.
  std::vector<uint32_t> slots;
  std::vector<RowLaunch> launches;
  std::vector<RowDependence> dependences;
};

LaunchRow::LaunchRow() : seen_(std::make_unique<Seen>()) {}
LaunchRow::~LaunchRow() = default;

void LaunchRow::begin(uint64_t moment, const Figures& figures) {
  // What another has told the tracker since may have changed anything.
  const bool is_next = moment == moment_ && step_ != Step::known;
  if (!is_next && step_ != Step::unknown) look_later();
  is_told_ = step_ != Step::unknown || ++skipped_ >= apart_;
  if (!is_told_) return;
  begun_ = moment;
  figures_ = figures;
  seen_->slots = std::exchange(slots_, {});
  seen_->launches = std::exchange(launches_, {});
  seen_->dependences = std::exchange(dependences_, {});
}

void LaunchRow::note(const KnownLaunch& known, std::span<const Dependence> found) {
  if (!is_told_) return;
  slots_.push_back(known.slot);
  launches_.push_back({0, static_cast<uint32_t>(found.size())});
  for (const Dependence& one : found)
    dependences_.push_back({true, one.master, one.dro->id, one.dro->edges});
}

void LaunchRow::end(uint64_t moment, LaunchNumber first, const Figures& figures,
                    const LaunchTable& launches, RuleEngine& engine) {
  if (!std::exchange(is_told_, false)) return;
  moment_ = moment;
  if (moment != begun_ + slots_.size() || slots_.empty()) {
    look_later();
    return;
  }
  figures_ = {figures.dependences - figures_.dependences, figures.edges - figures_.edges,
              figures.effort - figures_.effort};
  for (size_t i = 0; i < slots_.size(); ++i)
    launches_[i].interned = launches.launch(slots_[i]).id;
  if (step_ != Step::compared) {
    auto here = live_in(buffers_of(slots_, launches), engine.live_launches());
    if (!here) return look_later();
    seen_->before = std::exchange(seen_->after, std::move(*here));
  }
  if (step_ == Step::unknown) {
    step_ = Step::seen;
  } else if (slots_ == seen_->slots &&
             (step_ == Step::seen ? compare_states(first, engine) : compare_dependences(first))) {
    step_ = step_ == Step::seen ? Step::compared : Step::known;
  } else if (step_ == Step::seen && ++tries_ < most_tries) {
    // The first runs leave more and more, since they meet what the ones before have left.
  } else {
    look_later();
  }
  if (step_ != Step::known) return;
  apart_ = 1;
  last_interned_ = std::ranges::max(launches_, {}, &RowLaunch::interned).interned;
  first_fixed_ = UINT64_MAX;
  for (const RowDependence& one : dependences_)
    if (one.is_fixed) first_fixed_ = std::min(first_fixed_, one.master);
  seen_ = std::make_unique<Seen>(Seen{.left = std::move(seen_->left)});
}

void LaunchRow::look_later() {
  step_ = Step::unknown;
  apart_ = std::min(2 * apart_, rarest);
  skipped_ = tries_ = 0;
}

// The run has taken the states from `before` to `after`.
bool LaunchRow::compare_states(LaunchNumber first, const RuleEngine& engine) {
  const LiveHere& before = seen_->before;
  const LiveHere& after = seen_->after;
  if (before.buffers != after.buffers || before.indexes != after.indexes) return false;
  std::vector<LaunchNumber> masters;
  for (const RowDependence& one : dependences_)
    if (one.master < first) masters.push_back(one.master);
  std::ranges::sort(masters);
  seen_->left = {};
  for (size_t i = 0; i < after.states.size(); ++i) {
    const StateId state = after.states[i];
    const LaunchRuns& had = before.numbers[i];
    const LaunchRuns& has = after.numbers[i];
    if (has.is_shift_of(had, 0)) continue;
    if (has.is_shift_of(had, slots_.size())) {
      seen_->left.moved.push_back(state);
      continue;
    }
    // Of superseded launches only so many are kept.
    const auto added = has.added_since(had);
    if (!added || engine.is_superseded(state) || had.meets(masters)) return false;
    for (const LaunchNumber number : *added)
      seen_->left.added.emplace_back(state, static_cast<int64_t>(number - first));
  }
  return true;
}

// Masters are sorted by their numbers, so fixed ones must come first for good.
bool LaunchRow::compare_dependences(LaunchNumber first) {
  const auto is_like = [](const RowDependence& a, const RowDependence& b) {
    return a.dro == b.dro && a.edges == b.edges;
  };
  if (launches_ != seen_->launches ||
      !std::ranges::equal(dependences_, seen_->dependences, is_like)) {
    return false;
  }
  const LaunchNumber length = slots_.size();
  LaunchNumber number = first;
  size_t at = 0;
  for (const RowLaunch& launch : launches_) {
    bool was_fixed = true;
    for (uint32_t i = 0; i < launch.dependence_count; ++i, ++at) {
      RowDependence& one = dependences_[at];
      const LaunchNumber then = seen_->dependences[at].master;
      one.is_fixed = one.master == then;
      if (one.is_fixed && !was_fixed) return false;
      if (!one.is_fixed && one.master != then + length) return false;
      if (!one.is_fixed) one.master = number - one.master;
      was_fixed = one.is_fixed;
    }
    ++number;
  }
  return true;
}

const LaunchRow::Figures& LaunchRow::repeat(LaunchNumber first, LiveLaunches& live) {
  live.repeat(seen_->left, first, slots_.size());
  moment_ += slots_.size();
  return figures_;
}

}  // namespace sluice::dro
