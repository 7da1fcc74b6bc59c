// Does Sluice pay here? Which launches are followed, and which go to the device as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/code/kernel_model.hpp"
#include "schedule/block_cost.hpp"

namespace sluice::runtime {

// Policy answers for each launch whether Sluice pays. Two things speak against it. Following a
// kernel's launches may cost more than they allow: where they are new each time, the kernel's
// account runs dry. And plain launches may be faster than tasks: in a phase (a stretch of launches
// of the same few kernels, none of which has suddenly become much larger) some launches go to the
// device as they are when enough have run as tasks; where those were faster, Sluice leaves the rest
// of the phase aside. Both ways are measured again from time to time, ever more rarely, and where
// tasks have become much slower than when they were compared. Times come from the clock that it is
// given; what it decides depends on them and on its calls alone. Not thread-safe.
class Policy {
 public:
  using Clock = int64_t (*)();  // nanoseconds since any moment

  // Following is what following launches that were not seen before may cost a kernel, in steps of
  // some 50 ns (the tracker's, which are the same in every run): so much from the start, so much
  // for each launch, and one step for so many of its threads.
  struct Following {
    uint64_t to_start = 0;
    uint64_t for_a_launch = 0;
    uint64_t threads_for_a_step = 0;
  };

  struct Config {
    // Launches of a phase before anything is compared: most phases of short programs have fewer.
    uint64_t first_launches = 512;
    // Launches of a measurement, at least: more than one window of a program that often waits.
    uint32_t sample_launches = 16;
    // Measurements of each way, whose medians are compared: two of them may be disturbed.
    uint32_t samples = 5;
    // Launches until the next comparison, and then twice as many: its 80 plain launches are 1 %.
    uint64_t again_launches = 8192;
    // By what factor plain launches must be faster: less is noise on a machine that others share.
    double worth = 1.05;
    // By what factor tasks must have become slower, this many launches after a comparison, for
    // another one: less changes with a program's data from one moment to the next.
    double slower = 1.5;
    uint64_t slower_after = 2048;
    // 20 ms to start; then some hundredths of the time that launches take on their own.
    Following following{.to_start = 400'000, .for_a_launch = 64, .threads_for_a_step = 4096};
  };

  enum class Way {
    tasks,  // followed, and run as tasks
    plain,  // followed, and given to the device as it is: to be measured
    aside,  // given to the device as it is, and not followed
  };

  // Why a launch is not followed, for the journal.
  static constexpr const char* why_aside =
      "in this phase of the program plain launches were measured to be faster";
  static constexpr const char* why_not_followed =
      "its dependences are new at nearly every launch, so finding them costs more than it gains";

  // Mark is what the policy keeps of a kernel.
  struct Mark {
    uint64_t phase = 0;
    uint64_t most_blocks = 0;   // of its launches in that phase
    uint64_t block_weight = 0;  // of one block in Sample::work, fixed when first known
    uint64_t spent = 0;         // steps
    uint64_t earned = 0;
    std::optional<bool> has_paid;  // to follow, at this start and earlier ones
  };

  // Sample is some launches of one round that went the same way, one after the other.
  struct Sample {
    uint64_t round = 0;
    uint64_t launches = 0;
    uint64_t work = 0;  // blocks by their weights
    int64_t began = 0;  // when the program made the first of them
  };

  // Verdict is a comparison by which the way changed: how many times as fast plain launches were.
  struct Verdict {
    bool aside = false;
    double plain_speed = 1;
  };

  // Without a Config launches always go as tasks, and following them may cost seconds: only what
  // would take longer than the program's patience is given up.
  Policy(const std::optional<Config>& config, Clock clock) : config_(config), clock_(clock) {}

  bool compares() const { return config_.has_value(); }
  int64_t now() const { return clock_(); }

  // may_follow() is whether following the kernel has not cost more than its launches allow. The
  // model keeps from start to start that it has; a launch that is not followed earns all the same,
  // so that the kernel is followed again in time.
  bool may_follow(Mark& kernel, KernelModel& model, uint64_t threads) const;
  // spend() and earn() are told of a launch that was followed; began_asking() and asked() stand
  // before and after the analysis is asked for a footprint, where `known` shapes were asked before.
  static void spend(Mark& kernel, uint64_t steps) { kernel.spent += steps; }
  void earn(Mark& kernel, uint64_t threads) const;
  std::optional<int64_t> began_asking(size_t known) const;
  void asked(Mark& kernel, std::optional<int64_t> began) const;

  // A launch of so many blocks, in program order: is_aside() before it is read, and where it was
  // understood way(). Only what is understood counts in a phase that is not left aside.
  bool is_aside(Mark& kernel, uint64_t blocks);
  Way way(Mark& kernel, uint64_t blocks);

  // count() adds a launch to a sample and begins it where it is empty. `called` is when the program
  // made the launch; 0: now. `cost` (may be null) is what its blocks were measured to take.
  void count(Sample& sample, Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
             int64_t called) const;
  // count_plain() counts a launch that is about to be given plainly; the sample when it is full.
  std::optional<Sample> count_plain(Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
                                    int64_t called);
  // ended() says that the device has just ended all launches of a sample.
  std::optional<Verdict> ended(Way way, const Sample& sample);
  // plain_speed() is how many times as fast plain launches were at the last comparison, if any.
  std::optional<double> plain_speed() const { return compared_.plain_speed; }

 private:
  enum class Step { gathering, probing, awaiting, decided };

  // Pace collects samples until there are enough launches in them, and keeps the latest.
  struct Pace {
    uint64_t launches = 0;  // of samples that are too small each
    uint64_t work = 0;
    int64_t nanoseconds = 0;
    std::vector<double> values;  // nanoseconds for a unit of work
  };

  // Compared is what the last comparison found.
  struct Compared {
    double pace = 0;  // of tasks
    std::optional<double> plain_speed;
  };

  const Following& following() const;
  Way next_way(Mark& kernel, uint64_t blocks);
  void begin_phase();
  void begin_round();
  void add(Pace& pace, const Sample& sample, int64_t nanoseconds) const;
  std::optional<Verdict> compare();

  std::optional<Config> config_;
  Clock clock_;
  uint64_t phase_ = 0;
  uint64_t round_ = 0;
  Step step_ = Step::gathering;
  std::optional<Way> way_;  // of the last launch; nothing where it was not understood
  bool is_aside_ = false;   // the last comparison's answer
  uint64_t phase_launches_ = 0;
  uint64_t step_launches_ = 0;
  uint64_t again_ = 0;
  Pace tasks_;
  Pace plain_;
  Compared compared_;
  Sample plain_sample_;
  int64_t last_ended_ = 0;  // when the device ended the sample before
};

}  // namespace sluice::runtime
