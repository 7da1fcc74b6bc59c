// Whether windows pay: plain launches are measured beside them, phase by phase.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::runtime {

// Governor decides how launches go to the device. A phase is a stretch of launches of the same few
// kernels, none of which has suddenly become much larger. When enough of it has run as tasks, some
// launches go to the device as they are; where that was faster, Sluice steps aside for the rest of
// the phase. Both ways are measured again from time to time, ever more rarely, and where tasks have
// become much slower than they were when they were compared. What it decides depends on its calls
// alone: it reads no clock. Not thread-safe.
class Governor {
 public:
  struct Config {
    uint64_t first_launches = 512;   // of a phase before anything is compared
    uint32_t sample_launches = 16;   // of one measurement, at least
    uint32_t samples = 5;            // of each way; their medians are compared
    uint64_t again_launches = 8192;  // until the next comparison; then twice as many
    double worth = 1.05;             // by what factor plain launches must be faster
    double slower = 1.5;             // by what factor tasks must have become slower,
    uint64_t slower_after = 2048;    // so many launches after a comparison, for another
  };

  enum class Way {
    tasks,  // followed, and run as tasks
    plain,  // followed, and given to the device as it is: to be measured
    aside,  // given to the device as it is, and not followed
  };

  // Mark is what the governor keeps of a kernel.
  struct Mark {
    uint64_t phase = 0;
    uint64_t most_blocks = 0;   // of its launches in that phase
    uint64_t block_weight = 0;  // of one block in Sample::work, fixed when first known
  };

  // Sample is some launches of one round that went the same way, one after the other.
  struct Sample {
    uint64_t round = 0;
    uint64_t launches = 0;
    uint64_t work = 0;  // blocks by their weights
    int64_t nanoseconds = 0;
  };

  // Verdict is a comparison by which the way changed: how many times as fast plain launches were.
  struct Verdict {
    bool aside = false;
    double plain_speed = 1;
  };

  Governor() : Governor(Config{}) {}
  explicit Governor(const Config& config) : config_(config) {}

  // launched() says how a launch of this kernel, of so many blocks, goes; called once for each, in
  // program order.
  Way launched(Mark& kernel, uint64_t blocks);
  // round() goes into the samples of the launches that launched() has just answered for.
  uint64_t round() const { return round_; }
  // sample_launches() is how many plain launches make a sample.
  uint32_t sample_launches() const { return config_.sample_launches; }
  // measured() takes a sample of launches that went as tasks, or plain.
  std::optional<Verdict> measured(Way way, const Sample& sample);

 private:
  enum class Step { gathering, probing, awaiting, decided };

  // Pace collects samples until there are enough launches in them, and keeps the latest.
  struct Pace {
    Sample open;
    std::vector<double> values;  // nanoseconds for a unit of work
  };

  void begin_phase();
  void begin_round();
  void add(Pace& pace, const Sample& sample) const;
  static double median(std::vector<double> values);
  std::optional<Verdict> compare();
  void watch(Way way, const Sample& sample);

  const Config config_;
  uint64_t phase_ = 0;
  uint64_t round_ = 0;
  Step step_ = Step::gathering;
  bool is_aside_ = false;
  uint64_t phase_launches_ = 0;
  uint64_t step_launches_ = 0;
  uint64_t again_ = 0;
  Pace tasks_;
  Pace plain_;
  double compared_pace_ = 0;  // of tasks, when they were compared
};

}  // namespace sluice::runtime
