// Does Sluice pay here? Which launches are followed, and which go to the device as they are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dim3.hpp"
#include "runtime/policy/steps_of_new.hpp"
#include "schedule/block_cost.hpp"

namespace sluice::runtime {

// Policy answers for each launch whether Sluice pays, by times alone. It keeps three things.
//
// An account of what Sluice has cost the program's threads, against what tasks have saved: it never
// lets them wait for more than a fixed start and a small part of the program's time so far. The
// same of each kernel and size, for what finding dependences of new launches costs any thread.
//
// For each phase (launches of the same few kernels, with blocks and grids of about the same size)
// how long its work takes as tasks, and as plain launches. Where plain ones are faster, Sluice
// leaves the phase aside. A phase that comes again is known; both ways are measured again from time
// to time, ever more rarely, and where tasks have become much slower than when they were compared.
//
// And whether the program waits for each launch, which leaves nothing to gain.
//
// Times come from the clock that it is given; what it decides depends on them and on its calls
// alone. Not thread-safe.
class Policy {
 public:
  using Clock = int64_t (*)();  // nanoseconds since any moment

  struct Config {
    // What may be spent for nothing: so many nanoseconds, and a part of the program's time so far.
    int64_t to_start = 8'000'000;
    double part = 0.02;
    // The same of new launches, on any thread: of each kernel and size, and of all together but for
    // those that have taken little.
    int64_t kernel_to_start = 25'000'000;
    double kernel_part = 0.02;
    // Launches whose dependences are found in so many nanoseconds need no other thread.
    int64_t quick = 300'000;
    // Tasks of a phase before it is compared: nanoseconds, or a part of the program's time so far.
    int64_t first = 5'000'000;
    double first_part = 0.03;
    // Nanoseconds of a measurement, and measurements of each way, whose medians are compared.
    int64_t sample = 700'000;
    uint32_t samples = 4;
    // How many times as long as a comparison took until the next one, and then twice as long.
    int64_t again = 50;
    // By what factor plain launches must be faster: less is noise on a machine that others share.
    double worth = 1.05;
    // By what factor tasks must have become slower for another comparison.
    double slower = 1.5;
    // Launches that the program waited for, one by one, before it is taken to wait for all.
    uint32_t alone = 8;
    // Whether it is taken to until it has made one that it did not wait for: many programs make one
    // launch, or wait for each to time it, and what is analysed for these is lost.
    bool alone_at_first = true;
    // Whether plain launches are measured against tasks.
    bool compares = true;
  };

  enum class Way {
    tasks,  // followed, and run as tasks
    plain,  // given to the device as it is, and not followed: to be measured
    aside,  // given to the device as it is, and not followed
  };

  // How long a program has run before an analysis that earlier starts did not end is tried again,
  // in times what these spent on it.
  static constexpr int64_t age_for_unfinished = 5;

  // Why a launch is not followed, for the journal.
  static constexpr const char* why_alone = "the program has waited for each launch before the next";
  static constexpr const char* why_plain =
      "plain launches are measured, to compare them with tasks";

  // Account is what launches of one kernel and size have cost: they are followed or not whatever
  // others cost.
  struct Account {
    uint64_t launches = 0;  // that were followed
    int64_t spent = 0;      // nanoseconds, on new launches
    int64_t earned = 0;     // where nothing is compared
    int64_t newest = -1;    // what the last new one took
    int64_t reading = 0;    // nanoseconds, on footprints in the background, which each start reads
    int64_t in_vain = 0;    // what earlier starts have spent on these two, for nothing
    bool is_given_up = false;
    std::string why_not;               // then
    StepsOfNew steps;                  // of its first new launches
    std::atomic<int64_t> analysis{0};  // nanoseconds that were not charged yet, on any thread

    void followed(uint64_t threads);  // is told of a launch that was followed
  };

  struct Phase;
  // Mark is what the policy keeps of a kernel: of each block and magnitude of grids.
  struct Mark {
    struct Size {
      Dim3 block;
      int grid = 0;  // its magnitude
      Account account;
      Phase* phase = nullptr;  // null: none of its launches has come so far
    };
    std::list<Size> sizes;      // few
    uint64_t block_weight = 0;  // of one block in Sample::work, fixed when first known

    static int magnitude(uint64_t blocks);
    Size& size(uint64_t blocks, const Dim3& block);
    Account& account(const Dim3& grid, const Dim3& block) {
      return size(grid.count(), block).account;
    }
  };

  // Habit is how the program waits for its launches. launched() and flushed() are told of all
  // launches, and of calls that may wait for them; is_alone() is whether the program is likely to
  // wait for the next launch before it makes another.
  class Habit {
   public:
    Habit(uint32_t alone, bool at_first) : enough_(alone), alone_(at_first ? alone : 0) {}
    bool is_alone() const { return unwaited_ == 0 && alone_ >= enough_; }
    void launched() {
      if (++unwaited_ > 1) alone_ = 0;
    }
    void flushed() {
      if (std::exchange(unwaited_, 0) == 1 && alone_ < enough_) ++alone_;
    }

   private:
    uint32_t enough_;
    uint32_t unwaited_ = 0;  // launches since the last call that may wait
    uint32_t alone_;
  };

  // Sample is some launches of one round that went the same way, one after the other.
  struct Sample {
    Phase* phase = nullptr;
    uint64_t round = 0;
    uint64_t launches = 0;
    uint64_t work = 0;           // blocks by their weights
    int64_t began = 0;           // when the program made the first of them
    const void* line = nullptr;  // samples of one run one after the other
  };

  // Row is launches of one phase that come together. may_go() is whether all of them would go as
  // tasks now, count() counts them where they do, `called` as below.
  struct Row {
    Phase* phase = nullptr;
    uint64_t launches = 0;
    uint64_t work = 0;

    bool may_go(const Policy& policy) const;
    void count(Policy& policy, Sample& sample, int64_t called) const;
  };

  // Verdict is a comparison by which the way changed: how many times as fast plain launches were.
  struct Verdict {
    bool aside = false;
    double plain_speed = 1;
  };

  // Where nothing is compared, launches always go as tasks but for those that the program waits
  // for, and following them may cost seconds: only what would take longer than the program's
  // patience is given up, by steps that are counted. Without a Config those go as tasks too.
  Policy(const std::optional<Config>& config, Clock clock)
      : config_(config),
        clock_(clock),
        started_(clock()),
        habit_(config ? config->alone : UINT32_MAX, config && config->alone_at_first) {}

  bool compares() const { return config_ && config_->compares; }
  int64_t now() const { return clock_(); }
  int64_t age() const { return now() - started_; }  // nanoseconds of the program so far

  // patience() is how many nanoseconds a thread of the program may wait for Sluice now, wait() that
  // it has waited.
  int64_t patience() const;
  void wait(int64_t nanoseconds) { spent_ += nanoseconds; }

  // may_follow() is whether new launches may be followed; where not, account.why_not says what they
  // have cost. Where earlier starts have spent something in vain it is when a part of the program's
  // time is as much: each time that it is in vain the next waits longer. is_quick() is whether
  // what took so long the last time is likely to be over soon; negative: nobody knows.
  bool may_follow(Account& account) const;
  bool is_quick(int64_t last) const;

  Habit& habit() { return habit_; }

  // A launch of so many blocks, in program order: is_aside() before it is read, and where it was
  // understood way(). Only what is understood counts in a phase that is not left aside.
  bool is_aside(Mark& kernel, uint64_t blocks, const Dim3& block = {});
  Way way(Mark& kernel, uint64_t blocks, const Dim3& block = {});
  // why_aside() says of the last launch what was measured.
  const char* why_aside() const;

  // count() adds a launch to a sample and begins it where it is empty. `called` is when the program
  // made the launch; 0: now. `cost` (may be null) is what its blocks were measured to take.
  void count(Sample& sample, Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
             int64_t called);
  // count_plain() counts a launch that is about to be given plainly; the sample when it is full.
  std::optional<Sample> count_plain(Mark& kernel, uint64_t blocks, const schedule::BlockCost* cost,
                                    int64_t called);
  // ended() says that the device has just ended all launches of a sample.
  std::optional<Verdict> ended(Way way, const Sample& sample);
  // plain_speed() is how many times as fast plain launches were at the last comparison, if any.
  std::optional<double> plain_speed() const { return plain_speed_; }

  // While samples of plain launches are awaited the program waits too, as long as it may: what
  // Sluice does for its next launches would take processors from a device that has the host's.
  enum class Step { gathering, probing, awaiting, overdue, decided };
  // Pace collects samples until they have taken long enough, and keeps the latest.
  struct Pace {
    uint64_t work = 0;  // of samples that are too short each
    int64_t nanoseconds = 0;
    int64_t all = 0;  // nanoseconds of all
    struct Value {
      double pace = 0;  // nanoseconds for a unit of work
      uint64_t work = 0;
    };
    std::vector<Value> values;
    const void* line = nullptr;  // of the last sample
    // Samples of several lines, or some that seem to have ended with the one before.
    bool is_side_by_side = false;
  };
  struct Phase {
    uint64_t launches = 0;
    struct Tally {
      uint64_t under_way = 0;  // launches given as tasks whose sample has not ended
      uint64_t tasks = 0;      // launches of this round that were given as tasks
      uint64_t met = 0;        // and that were not understood yet
    } tally;
    uint64_t round = 0;
    Step step = Step::gathering;
    int64_t began = 0;  // the round
    uint32_t given_samples = 0;
    bool is_first = true;   // nothing was compared yet
    bool is_aside = false;  // the last comparison's answer
    int64_t decided = 0;    // when
    int64_t again = 0;      // nanoseconds from then to the next
    double task_pace = 0;   // as compared
    double plain_pace = 0;
    Pace tasks;
    Pace plain;
    std::string why;  // it is left aside

    bool is_measured(const Policy& policy) const;    // enough of its tasks
    bool is_left_aside(const Policy& policy) const;  // and not about to be compared again
    int64_t wanted(const Policy& policy) const;      // nanoseconds of its tasks
    bool is_tried_for_nothing(const Policy& policy) const;
    void leave_aside(const Policy& policy);
    void add_tasks(uint64_t given);
  };

 private:
  friend bool is_in_vain(const Policy& policy, const Account& account);
  friend bool awaits_samples(const Policy& policy);
  friend void await_no_longer(Policy& policy);
  friend void meet(Policy& policy, Mark& kernel, uint64_t blocks, const Dim3& block);
  friend void charge(Policy& policy, Account& account, int64_t nanoseconds);
  Phase& phase_of(Mark& kernel, uint64_t blocks, const Dim3& block);
  Way next_way(Mark& kernel, uint64_t blocks, const Dim3& block);
  void begin_round(Phase& phase) const;
  void add(Pace& pace, const Sample& sample, int64_t nanoseconds, int64_t wanted) const;
  std::optional<Verdict> compare(Phase& phase);

  std::optional<Config> config_;
  Clock clock_;
  int64_t started_;
  int64_t spent_ = 0;     // nanoseconds of the program's threads
  int64_t followed_ = 0;  // nanoseconds of any thread, on new launches of all accounts
  int64_t saved_ = 0;
  std::deque<Phase> phases_;
  Phase* phase_ = nullptr;  // of the last launch
  std::optional<Way> way_;  // likewise; nothing where it was not understood
  std::optional<double> plain_speed_;
  Sample plain_sample_;
  int64_t last_ended_ = 0;  // when the device ended the sample before
  Habit habit_;
};

// meet() says that the program makes such launches, though this one is not understood yet: they are
// of one phase with those that come about it.
void meet(Policy& policy, Policy::Mark& kernel, uint64_t blocks, const Dim3& block);

// spend() is told what a new launch of an account has cost, charge() what else was spent on its
// launches: nanoseconds of any thread.
void spend(Policy& policy, Policy::Account& account, int64_t nanoseconds);
void charge(Policy& policy, Policy::Account& account, int64_t nanoseconds);

// is_in_vain() is whether more was spent on new launches and footprints than tasks have saved, on
// all of them together, and than a program may lose that has run for so long; and on the account's
// not just a little of it. Where nobody has compared them, tasks may have saved more than is known.
bool is_in_vain(const Policy& policy, const Policy::Account& account);

// awaits_samples() is whether the program should wait before its next launch, until the samples
// that were given have ended; await_no_longer() says that it has waited for as long as it may.
bool awaits_samples(const Policy& policy);
void await_no_longer(Policy& policy);

// nanoseconds_of_steps() is what steps of the tracker take.
int64_t nanoseconds_of_steps(uint64_t steps);

// New launches that earlier starts have counted to take no more nanoseconds than these need no
// other thread: for its answer the program's would wait as long where the device has nothing to do.
constexpr int64_t known_quick = 1'000'000;

// is_new_quick() is whether the next new launch of an account needs no other thread, by what is
// kept of it, or else by the last one.
inline bool is_new_quick(const Policy& policy, const Policy::Account& account) {
  if (!policy.compares()) return true;
  const std::optional<uint64_t> steps = account.steps.next();
  if (!steps) return policy.is_quick(account.newest);
  return nanoseconds_of_steps(*steps) <= std::min(known_quick, policy.patience());
}

}  // namespace sluice::runtime
