#include "runtime/policy/policy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sluice::runtime {
namespace {

// Where nothing is compared: 125 ms to start, and then about what a plain launch of some kernel
// takes; one step of the tracker (50 ns) is what 16 threads take that each do some arithmetic.
constexpr int64_t uncompared_to_start = 125'000'000;
constexpr int64_t uncompared_for_a_launch = 800'000;
constexpr int64_t uncompared_threads_for_a_step = 16;
constexpr int64_t nanoseconds_for_a_step = 50;
// A kernel that comes this many launches into a phase, or earlier, belongs to it; one that comes
// later begins another: steps of an iteration have mostly few different kernels.
constexpr uint64_t forming_launches = 64;
// Grids are of one magnitude within a factor of eight: what was measured of small ones says nothing
// of large ones.
constexpr int bits_of_a_magnitude = 3;
// The part of what all kernels may cost that one may whatever the others have.
constexpr int64_t little = 8;
// A phase is tried for so many times as long as its measurements take.
constexpr int64_t patience_with_samples = 4;
// Launches that were not understood yet, for each that was: where it is more, most pass through.
constexpr uint64_t most_met = 2;
// Nanoseconds between two comparisons at most.
constexpr int64_t rarest_again = 10'000'000'000;

// The part of a sample's time within which a plain one has not run behind the one before: that one
// was heard of late, by a thread that others kept from a processor.
constexpr int64_t part_together = 50;

// pace_of() is the median, the pace that half of the work keeps, so that a short sample counts as
// what it is. Of samples that have run side by side and ended at once the last seem to have taken
// nothing: only all of them together have a pace.
double pace_of(const Policy::Pace& pace) {
  std::vector<Policy::Pace::Value> values = pace.values;
  std::ranges::sort(values, {}, &Policy::Pace::Value::pace);
  uint64_t all = 0;
  double taken = 0;
  for (const Policy::Pace::Value& value : values) {
    all += value.work;
    taken += value.pace * static_cast<double>(value.work);
  }
  if (pace.is_side_by_side && all != 0) return taken / static_cast<double>(all);
  uint64_t so_far = 0;
  for (const Policy::Pace::Value& value : values) {
    so_far += value.work;
    if (2 * so_far >= all) return value.pace;
  }
  return 0;
}

double milliseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-6;
}

int64_t part_of(int64_t time, double part) {
  return static_cast<int64_t>(part * static_cast<double>(time));
}

}  // namespace

int64_t Policy::patience() const {
  if (!compares()) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(0, config_->to_start + part_of(age(), config_->part) + saved_ - spent_);
}

bool Policy::may_follow(Account& account) const {
  if (compares() && part_of(age(), config_->kernel_part) < account.in_vain) {
    if (!std::exchange(account.is_given_up, true)) {
      account.why_not = fmt::format(
          "in earlier starts following its launches of about this size cost {:.1f} ms, for "
          "nothing; it is tried again when the program has run for longer",
          milliseconds(account.in_vain));
    }
    return false;
  }
  int64_t allowed = uncompared_to_start + account.earned;
  if (compares()) {
    allowed = config_->kernel_to_start + part_of(age(), config_->kernel_part) +
              std::max<int64_t>(0, saved_);
  }
  // Once given up it is followed again when half of what is allowed is left.
  if (account.is_given_up) allowed /= 2;
  const bool has_taken_little = account.spent <= allowed / little;
  const bool may =
      account.spent <= allowed && (!compares() || followed_ <= allowed || has_taken_little);
  if (!may && !account.is_given_up) {
    account.why_not = fmt::format(
        "following {} of its launches of about this size cost {:.1f} ms{}", account.launches,
        milliseconds(account.spent),
        compares() ? fmt::format(", and tasks saved {:.1f} ms so far", milliseconds(saved_)) : "");
  }
  account.is_given_up = !may;
  return may;
}

bool is_in_vain(const Policy& policy, const Policy::Account& account) {
  if (!policy.compares()) return false;
  const Policy::Config& config = *policy.config_;
  const int64_t allowed =
      config.to_start + part_of(policy.age(), config.part) + std::max<int64_t>(0, policy.saved_);
  return policy.followed_ + account.reading > allowed &&
         account.spent + account.reading > allowed / little;
}

bool Policy::is_quick(int64_t last) const {
  return !compares() || (last >= 0 && last <= std::min(config_->quick, patience()));
}

void charge(Policy& policy, Policy::Account& account, int64_t nanoseconds) {
  account.spent += nanoseconds;
  policy.followed_ += nanoseconds;
}

void spend(Policy& policy, Policy::Account& account, int64_t nanoseconds) {
  charge(policy, account, nanoseconds);
  account.newest = nanoseconds;
}

void Policy::Account::followed(uint64_t threads) {
  ++launches;
  earned += uncompared_for_a_launch +
            static_cast<int64_t>(threads) / uncompared_threads_for_a_step * nanoseconds_for_a_step;
}

int64_t nanoseconds_of_steps(uint64_t steps) {
  return static_cast<int64_t>(steps) * nanoseconds_for_a_step;
}

bool Policy::is_aside(Mark& kernel, uint64_t blocks, const Dim3& block) {
  const bool was_aside = way_ == Way::aside;
  way_.reset();
  if (was_aside) way_ = next_way(kernel, blocks, block);
  return way_ == Way::aside;
}

Policy::Way Policy::way(Mark& kernel, uint64_t blocks, const Dim3& block) {
  if (!way_) way_ = compares() ? next_way(kernel, blocks, block) : Way::tasks;
  return *way_;
}

const char* Policy::why_aside() const {
  return phase_ == nullptr ? "" : phase_->why.c_str();
}

void Policy::begin_round(Phase& phase) const {
  ++phase.round;
  phase.step = Step::gathering;
  phase.began = now();
  phase.given_samples = 0;
  phase.tally.tasks = phase.tally.met = 0;
  phase.tasks = phase.plain = {};
}

int Policy::Mark::magnitude(uint64_t blocks) {
  return std::bit_width(blocks) / bits_of_a_magnitude;
}

Policy::Mark::Size& Policy::Mark::size(uint64_t blocks, const Dim3& block) {
  const int grid = magnitude(blocks);
  for (Size& known : sizes)
    if (known.grid == grid && known.block == block) return known;
  const int64_t newest = sizes.empty() ? -1 : sizes.back().account.newest;
  Size& added = sizes.emplace_back();
  added.block = block;
  added.grid = grid;
  added.account.newest = newest;
  return added;
}

Policy::Phase& Policy::phase_of(Mark& kernel, uint64_t blocks, const Dim3& block) {
  Mark::Size& size = kernel.size(blocks, block);
  if (size.phase != nullptr) return *size.phase;
  if (phase_ == nullptr || phase_->launches > forming_launches) {
    phase_ = &phases_.emplace_back();
    begin_round(*phase_);
  }
  size.phase = phase_;
  return *phase_;
}

bool Policy::Phase::is_measured(const Policy& policy) const {
  return (!is_first || tasks.all >= wanted(policy)) &&
         tasks.values.size() >= policy.config_->samples;
}

bool Policy::Phase::is_left_aside(const Policy& policy) const {
  return step == Step::decided && is_aside && policy.now() < decided + again;
}

// Where most launches pass through for another reason, samples of tasks come too slowly. Those
// under way may yet be enough.
bool Policy::Phase::is_tried_for_nothing(const Policy& policy) const {
  if (tally.under_way != 0 || !(is_first || is_aside)) return false;
  if (tally.met <= most_met * tally.tasks) return false;
  return policy.now() - began > patience_with_samples * wanted(policy);
}

void Policy::Phase::leave_aside(const Policy& policy) {
  if (is_first) {
    why =
        "in this phase of the program too few launches could run as tasks to compare them with "
        "plain ones; it is tried again later";
  }
  is_aside = true;
  step = Step::decided;
  decided = policy.now();
  again = std::clamp(2 * again, policy.config_->again * policy.config_->sample, rarest_again);
}

int64_t Policy::Phase::wanted(const Policy& policy) const {
  const Config& config = *policy.config_;
  if (!is_first) return int64_t{config.samples} * config.sample;
  return std::max(config.first, part_of(policy.age(), config.first_part));
}

void Policy::Phase::add_tasks(uint64_t given) {
  tally.under_way += given;
  tally.tasks += given;
}

void meet(Policy& policy, Policy::Mark& kernel, uint64_t blocks, const Dim3& block) {
  if (policy.compares()) ++policy.phase_of(kernel, blocks, block).tally.met;
}

Policy::Way Policy::next_way(Mark& kernel, uint64_t blocks, const Dim3& block) {
  Phase& phase = phase_of(kernel, blocks, block);
  phase_ = &phase;
  if (++phase.launches == 1) phase.began = now();
  switch (phase.step) {
    case Step::gathering:
      if (phase.is_measured(*this)) {
        phase.step = Step::probing;
        plain_sample_ = {};
        return Way::plain;
      }
      if (!phase.is_tried_for_nothing(*this)) break;
      phase.leave_aside(*this);
      return Way::aside;
    case Step::probing:
      return Way::plain;
    case Step::awaiting:
    case Step::overdue:
      break;
    case Step::decided:
      if (now() < phase.decided + phase.again) return phase.is_aside ? Way::aside : Way::tasks;
      phase.again = std::min(2 * phase.again, rarest_again);
      begin_round(phase);
      break;
  }
  return Way::tasks;
}

bool awaits_samples(const Policy& policy) {
  return policy.phase_ != nullptr && policy.phase_->step == Policy::Step::awaiting;
}

void await_no_longer(Policy& policy) {
  if (awaits_samples(policy)) policy.phase_->step = Policy::Step::overdue;
}

void Policy::count(Sample& sample, Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
                   int64_t called) {
  // Blocks of one kernel against those of another: as they were measured when that was first known.
  if (kernel.block_weight == 0 && cost != nullptr && cost->nanoseconds() != 0) {
    kernel.block_weight = cost->nanoseconds();
    if (phase_ != nullptr) {
      begin_round(*phase_);
      phase_->is_first = true;
      phase_->plain_pace = 0;
    }
  }
  if (sample.launches == 0) {
    sample = {.phase = phase_,
              .round = phase_ == nullptr ? 0 : phase_->round,
              .began = called != 0 ? called : now()};
  }
  ++sample.launches;
  if (way_ == Way::tasks && sample.phase != nullptr) sample.phase->add_tasks(1);
  sample.work += blocks * std::max<uint64_t>(1, kernel.block_weight);
}

// A sample is full when it would take long enough as tasks.
std::optional<Policy::Sample> Policy::count_plain(Mark& kernel, uint64_t blocks,
                                                  const schedule::BlockCost* cost, int64_t called) {
  if (plain_sample_.phase != phase_ || plain_sample_.round != phase_->round) plain_sample_ = {};
  count(plain_sample_, kernel, blocks, cost, called);
  // Leaving launches aside saves what following costs, where the device waits for the program.
  if (called != 0) plain_sample_.began += now() - called;
  const double pace = phase_->tasks.values.empty() ? 0 : pace_of(phase_->tasks);
  // Whole nanoseconds: a pace is a quotient, and times the same work not quite what it was.
  if (std::llround(static_cast<double>(plain_sample_.work) * pace) < config_->sample)
    return std::nullopt;
  if (++phase_->given_samples == config_->samples) phase_->step = Step::awaiting;
  return std::exchange(plain_sample_, {});
}

// Launches have the device from when the ones before have ended, or else from their call.
std::optional<Policy::Verdict> Policy::ended(Way way, const Sample& sample) {
  const int64_t now = clock_();
  const int64_t taken = std::max<int64_t>(1, now - std::max(sample.began, last_ended_));
  last_ended_ = now;
  if (sample.phase == nullptr) return std::nullopt;
  Phase& phase = *sample.phase;
  if (way == Way::tasks) phase.tally.under_way -= sample.launches;
  if (way == Way::tasks && phase.plain_pace > 0) {
    saved_ += static_cast<int64_t>(phase.plain_pace * static_cast<double>(sample.work)) - taken;
  }
  if (sample.round != phase.round) return std::nullopt;
  if (phase.step == Step::decided) {
    if (way != Way::tasks || phase.is_aside) return std::nullopt;
    // A program may go on with the same kernels in another way, on many streams for instance.
    add(phase.tasks, sample, taken, config_->sample);
    const bool is_known =
        now - phase.decided >= phase.again / 4 && phase.tasks.values.size() >= config_->samples;
    if (is_known && pace_of(phase.tasks) > config_->slower * phase.task_pace) {
      begin_round(phase);
    }
    return std::nullopt;
  }
  if (way == Way::tasks) {
    add(phase.tasks, sample, taken, config_->sample);
  } else {
    add(phase.plain, sample, taken, 0);  // full as it is, by what tasks would take
  }
  if (phase.step == Step::gathering || phase.plain.values.size() < config_->samples)
    return std::nullopt;
  return compare(phase);
}

void Policy::add(Pace& pace, const Sample& sample, int64_t nanoseconds, int64_t wanted) const {
  const bool is_together =
      wanted == 0 && !pace.values.empty() && nanoseconds * part_together < config_->sample;
  pace.is_side_by_side |= is_together || (pace.line != nullptr && pace.line != sample.line);
  pace.line = sample.line;
  pace.work += sample.work;
  pace.nanoseconds += nanoseconds;
  pace.all += nanoseconds;
  if (pace.nanoseconds < wanted || pace.work == 0) return;
  pace.values.push_back(
      {static_cast<double>(pace.nanoseconds) / static_cast<double>(pace.work), pace.work});
  if (pace.values.size() > config_->samples) pace.values.erase(pace.values.begin());
  pace.work = 0;
  pace.nanoseconds = 0;
}

std::optional<Policy::Verdict> Policy::compare(Phase& phase) {
  phase.task_pace = pace_of(phase.tasks);
  phase.plain_pace = std::max(pace_of(phase.plain), 1e-9);
  const double speed = phase.task_pace / phase.plain_pace;
  plain_speed_ = speed;
  const bool before = std::exchange(phase.is_aside, speed > config_->worth);
  phase.step = Step::decided;
  phase.decided = now();
  if (phase.is_first || phase.is_aside != before) {
    phase.again =
        std::min(config_->again * std::max(config_->sample, phase.plain.all), rarest_again);
  }
  phase.is_first = false;
  phase.why = fmt::format(
      "in this phase of the program plain launches were measured to be faster: {:.2f} x as fast as "
      "tasks, by {:.1f} and {:.1f} ms of both",
      speed, milliseconds(phase.plain.all), milliseconds(phase.tasks.all));
  phase.tasks = {};
  if (phase.is_aside == before) return std::nullopt;
  return Verdict{phase.is_aside, speed};
}

}  // namespace sluice::runtime
