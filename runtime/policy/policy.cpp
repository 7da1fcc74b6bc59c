#include "runtime/policy/policy.hpp"

#include <algorithm>
#include <utility>

namespace sluice::runtime {
namespace {

// Where nothing is compared: 125 ms to start, and then about what a plain launch of some kernel
// takes, 0.8 ms; one step (50 ns) is what 16 threads take that each do some arithmetic.
constexpr Policy::Following without_comparison{
    .to_start = 2'500'000, .for_a_launch = 16'384, .threads_for_a_step = 16};
// Nanoseconds of the analysis that count as one step: what the tracker's take.
constexpr int64_t nanoseconds_for_a_step = 50;
// Shapes of a kernel that a program may ask about before the analysis counts as following: that
// many it asks for at nearly every first launch, and the cache of analyses answers next time.
constexpr size_t usual_shapes = 4;
// A kernel that comes this many launches into a phase, or earlier, belongs to it; one that comes
// later begins another: steps of an iteration have mostly few different kernels.
constexpr uint64_t forming_launches = 64;
// So is a launch with that many times the blocks of any before: what was measured of small ones
// says nothing of it.
constexpr uint64_t much_larger = 8;
// Launches between two comparisons at most: some seconds of the shortest ones.
constexpr uint64_t rarest_again = uint64_t{1} << 20U;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

const Policy::Following& Policy::following() const {
  return config_ ? config_->following : without_comparison;
}

bool Policy::may_follow(Mark& kernel, KernelModel& model, uint64_t threads) const {
  if (compares() && !kernel.has_paid) {
    kernel.has_paid = !model.has_not_paid();
    if (!*kernel.has_paid) spend(kernel, 2 * following().to_start);
  }
  if (kernel.spent <= following().to_start + kernel.earned) return true;
  if (!compares()) return false;
  if (std::exchange(kernel.has_paid, false) == true) model.note_not_paid();
  earn(kernel, threads);
  return false;
}

void Policy::earn(Mark& kernel, uint64_t threads) const {
  kernel.earned += following().for_a_launch + threads / following().threads_for_a_step;
}

std::optional<int64_t> Policy::began_asking(size_t known) const {
  return compares() && known >= usual_shapes ? std::optional(now()) : std::nullopt;
}

void Policy::asked(Mark& kernel, std::optional<int64_t> began) const {
  if (began) spend(kernel, static_cast<uint64_t>(now() - *began) / nanoseconds_for_a_step);
}

bool Policy::is_aside(Mark& kernel, uint64_t blocks) {
  const bool was_aside = way_ == Way::aside;
  way_.reset();
  if (was_aside) way_ = next_way(kernel, blocks);
  return way_ == Way::aside;
}

Policy::Way Policy::way(Mark& kernel, uint64_t blocks) {
  if (!way_) way_ = compares() ? next_way(kernel, blocks) : Way::tasks;
  return *way_;
}

void Policy::begin_phase() {
  ++phase_;
  phase_launches_ = 0;
  again_ = config_->again_launches;
  is_aside_ = false;
  begin_round();
}

void Policy::begin_round() {
  ++round_;
  step_ = Step::gathering;
  step_launches_ = 0;
  tasks_ = plain_ = {};
}

Policy::Way Policy::next_way(Mark& kernel, uint64_t blocks) {
  const bool is_new = kernel.phase != phase_ || phase_ == 0;
  if (is_new || blocks > much_larger * kernel.most_blocks) {
    if (phase_ == 0 || phase_launches_ > forming_launches) begin_phase();
    if (kernel.phase != phase_) kernel.most_blocks = 0;
    kernel.phase = phase_;
  }
  kernel.most_blocks = std::max(kernel.most_blocks, blocks);
  ++phase_launches_;
  ++step_launches_;
  switch (step_) {
    case Step::gathering:
      if (phase_launches_ <= config_->first_launches || tasks_.values.size() < config_->samples)
        break;
      step_ = Step::probing;
      step_launches_ = 1;
      return Way::plain;
    case Step::probing:
      if (step_launches_ <= uint64_t{config_->samples} * config_->sample_launches)
        return Way::plain;
      step_ = Step::awaiting;
      break;
    case Step::awaiting:
      break;
    case Step::decided:
      if (step_launches_ <= again_) return is_aside_ ? Way::aside : Way::tasks;
      again_ = std::min(2 * again_, rarest_again);
      begin_round();
      break;
  }
  return Way::tasks;
}

void Policy::count(Sample& sample, Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
                   int64_t called) const {
  if (sample.launches == 0) sample = {.round = round_, .began = called != 0 ? called : now()};
  ++sample.launches;
  // Blocks of one kernel against those of another: as they were measured when that was first known.
  if (kernel.block_weight == 0 && cost != nullptr) kernel.block_weight = cost->nanoseconds();
  sample.work += blocks * std::max<uint64_t>(1, kernel.block_weight);
}

std::optional<Policy::Sample> Policy::count_plain(Mark& kernel, uint64_t blocks,
                                                  const schedule::BlockCost* cost, int64_t called) {
  if (plain_sample_.round != round_) plain_sample_ = {};
  count(plain_sample_, kernel, blocks, cost, called);
  // Leaving launches aside saves what following costs, where the device waits for the program.
  if (called != 0) plain_sample_.began += now() - called;
  if (plain_sample_.launches < config_->sample_launches) return std::nullopt;
  return std::exchange(plain_sample_, {});
}

// Launches have the device from when the ones before have ended, or else from their call.
std::optional<Policy::Verdict> Policy::ended(Way way, const Sample& sample) {
  const int64_t now = clock_();
  const int64_t taken = std::max<int64_t>(1, now - std::max(sample.began, last_ended_));
  last_ended_ = now;
  if (sample.round != round_) return std::nullopt;
  if (step_ == Step::decided) {
    if (way != Way::tasks || is_aside_) return std::nullopt;
    // A program may go on with the same kernels in another way, on many streams for instance.
    add(tasks_, sample, taken);
    const bool is_known =
        step_launches_ >= config_->slower_after && tasks_.values.size() >= config_->samples;
    if (is_known && median(tasks_.values) > config_->slower * compared_.pace) begin_round();
    return std::nullopt;
  }
  add(way == Way::plain ? plain_ : tasks_, sample, taken);
  if (step_ == Step::gathering || plain_.values.size() < config_->samples) return std::nullopt;
  return compare();
}

void Policy::add(Pace& pace, const Sample& sample, int64_t nanoseconds) const {
  pace.launches += sample.launches;
  pace.work += sample.work;
  pace.nanoseconds += nanoseconds;
  if (pace.launches < config_->sample_launches || pace.work == 0) return;
  pace.values.push_back(static_cast<double>(pace.nanoseconds) / static_cast<double>(pace.work));
  if (pace.values.size() > config_->samples) pace.values.erase(pace.values.begin());
  pace.launches = pace.work = 0;
  pace.nanoseconds = 0;
}

std::optional<Policy::Verdict> Policy::compare() {
  compared_.pace = median(tasks_.values);
  const double speed = compared_.pace / std::max(median(plain_.values), 1e-9);
  compared_.plain_speed = speed;
  const bool before = std::exchange(is_aside_, speed > config_->worth);
  step_ = Step::decided;
  step_launches_ = 0;
  tasks_ = {};
  if (is_aside_ == before) return std::nullopt;
  return Verdict{is_aside_, speed};
}

}  // namespace sluice::runtime
