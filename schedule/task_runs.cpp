#include "schedule/task_runs.hpp"

#include <utility>

namespace sluice::schedule {
namespace {

// A run takes the place of four tasks in a list.
constexpr uint32_t least_tickets = 8;
// Up to this product of a run's tickets and launches a device divides by one multiplication.
constexpr uint64_t most_divided = uint64_t{1} << 32U;

}  // namespace

void RunWriter::add(uint32_t launch, uint32_t number) {
  // The last task of a launch belongs to those before it, not to the first of the next launch.
  const bool ends =
      !round_.empty() && (launch != round_.back().launch + 1 || (round_.size() == 1 && goes_on(0)));
  if (ends) end_round();
  round_.push_back({launch, number});
}

void RunWriter::finish() {
  end_round();
  list_short_run();
}

uint32_t RunWriter::repeat(size_t launches, uint32_t rounds) {
  if (round_.size() != launches) return 0;
  end_round();
  if (plan_.runs.empty() || plan_.runs.back().launches != launches) return 0;
  TaskRun& run = plan_.runs.back();
  const uint64_t most = most_divided / run.launches - run.count - 1;
  const auto taken = static_cast<uint32_t>(std::min<uint64_t>(rounds, most / run.launches));
  run.count += taken * run.launches;
  tickets_ += taken * run.launches;
  return taken;
}

void RunWriter::end_round() {
  const auto size = static_cast<uint32_t>(round_.size());
  if (size == 0) return;
  const uint32_t lag = size == 1 ? 0 : round_[0].number - round_[1].number;
  bool is_even = true;
  for (uint32_t i = 1; i < size; ++i)
    is_even = is_even && round_[i - 1].number - round_[i].number == lag;
  if (!is_even) {
    list_short_run();
    for (const Named& task : round_)
      list(task);
  } else if (goes_on(lag)) {
    plan_.runs.back().count += size;
    tickets_ += size;
  } else {
    list_short_run();
    plan_.runs.push_back({tickets_, size, size, round_[0].launch, round_[0].number, lag});
    tickets_ += size;
  }
  round_.clear();
}

// goes_on() is whether the round is the next one of the last run.
bool RunWriter::goes_on(uint32_t lag) {
  if (plan_.runs.empty()) return false;
  const TaskRun& run = plan_.runs.back();
  return run.launches == round_.size() && run.first_launch == round_[0].launch && run.lag == lag &&
         round_[0].number == run.first_task + run.count / run.launches &&
         uint64_t{run.count + run.launches + 1} * run.launches <= most_divided;
}

void RunWriter::list(const Named& task) {
  if (plan_.runs.empty() || plan_.runs.back().launches != 0)
    plan_.runs.push_back({tickets_, 0, 0, 0, static_cast<uint32_t>(plan_.tasks.size()), 0});
  plan_.tasks.push_back(task_of(plan_, task.launch, task.number));
  ++plan_.runs.back().count;
  ++tickets_;
}

// list_short_run() lists the tasks of the last run where these are few.
void RunWriter::list_short_run() {
  if (plan_.runs.empty() || plan_.runs.back().launches == 0) return;
  const TaskRun run = plan_.runs.back();
  if (run.count >= least_tickets) return;
  plan_.runs.pop_back();
  tickets_ = run.first_ticket;
  for (uint32_t i = 0; i < run.count; ++i) {
    const uint32_t round = i / run.launches, place = i % run.launches;
    list({run.first_launch + place, run.first_task + round - place * run.lag});
  }
}

void find_runs(Plan& plan) {
  const std::vector<Task> all = std::exchange(plan.tasks, {});
  plan.runs.clear();
  RunWriter writer(plan);
  for (const Task& task : all)
    writer.add(task.launch, number_of(plan, task));
  writer.finish();
}

}  // namespace sluice::schedule
