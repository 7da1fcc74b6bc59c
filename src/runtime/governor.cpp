#include "runtime/governor.hpp"

#include <algorithm>

namespace sluice::runtime {
namespace {

// A kernel that comes this early in a phase belongs to it; one that comes later begins another.
constexpr uint64_t forming_launches = 64;
// So is a launch with that many times the blocks of any before: what was measured of small ones
// says nothing of it.
constexpr uint64_t much_larger = 8;
constexpr uint64_t rarest_again = uint64_t{1} << 20U;

}  // namespace

void Governor::begin_phase() {
  ++phase_;
  phase_launches_ = 0;
  again_ = config_.again_launches;
  is_aside_ = false;
  begin_round();
}

void Governor::begin_round() {
  ++round_;
  step_ = Step::gathering;
  step_launches_ = 0;
  tasks_ = plain_ = {};
}

Governor::Way Governor::launched(Mark& kernel, uint64_t blocks) {
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
      if (phase_launches_ <= config_.first_launches || tasks_.values.size() < config_.samples)
        break;
      step_ = Step::probing;
      step_launches_ = 1;
      return Way::plain;
    case Step::probing:
      if (step_launches_ <= uint64_t{config_.samples} * config_.sample_launches) return Way::plain;
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

std::optional<Governor::Verdict> Governor::measured(Way way, const Sample& sample) {
  if (sample.round != round_) return std::nullopt;
  if (step_ == Step::decided) {
    watch(way, sample);
    return std::nullopt;
  }
  add(way == Way::plain ? plain_ : tasks_, sample);
  if (step_ != Step::awaiting && step_ != Step::probing) return std::nullopt;
  return plain_.values.size() < config_.samples ? std::nullopt : compare();
}

void Governor::add(Pace& pace, const Sample& sample) const {
  pace.open.launches += sample.launches;
  pace.open.work += sample.work;
  pace.open.nanoseconds += sample.nanoseconds;
  if (pace.open.launches < config_.sample_launches || pace.open.work == 0) return;
  pace.values.push_back(static_cast<double>(pace.open.nanoseconds) /
                        static_cast<double>(pace.open.work));
  pace.open = {};
  if (pace.values.size() > config_.samples) pace.values.erase(pace.values.begin());
}

double Governor::median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<Governor::Verdict> Governor::compare() {
  compared_pace_ = median(tasks_.values);
  const double speed = compared_pace_ / std::max(median(plain_.values), 1e-9);
  const bool before = is_aside_;
  is_aside_ = speed > config_.worth;
  step_ = Step::decided;
  step_launches_ = 0;
  tasks_ = {};
  if (is_aside_ == before) return std::nullopt;
  return Verdict{is_aside_, speed};
}

// A program may go on with the same kernels in another way, on many streams for instance.
void Governor::watch(Way way, const Sample& sample) {
  if (way != Way::tasks || is_aside_) return;
  add(tasks_, sample);
  if (step_launches_ < config_.slower_after || tasks_.values.size() < config_.samples) return;
  if (median(tasks_.values) > config_.slower * compared_pace_) begin_round();
}

}  // namespace sluice::runtime
