#include "tools/view/trace.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>

#include "base/demangle.hpp"
#include "base/json_text.hpp"

namespace sluice::tools {
namespace {

// Perfetto takes thread 0 for the idle one, and a thread of the process's number for its main one.
constexpr int process = 1;
constexpr uint32_t first_thread = 2;

// Times have three decimals: the journal's nanoseconds.
double microseconds(int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

// Events writes the members of the array, a line each.
class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) {}
  // add() writes an event of a kind that lies on a worker's thread, and what it says beside that.
  void add(const char* kind, uint32_t worker, const JsonText& more) {
    JsonText event =
        JsonText::object({{"ph", kind}, {"pid", process}, {"tid", first_thread + worker}});
    event.add_members(more);
    out_ << (first_ ? "\n" : ",\n") << event.text();
    first_ = false;
  }
  // add_arrow() leads from one task to another that waited for it. It starts in the slice that is
  // open at its time, and at its end none is.
  void add_arrow(const dro::TaskRecord::Task& from, const dro::TaskRecord::Task& to) {
    const JsonText arrow =
        JsonText::object({{"id", ++arrows_}, {"name", "waited for"}, {"cat", "edge"}});
    JsonText start = JsonText::object({{"ts", microseconds(std::max(from.begun, from.ended - 1))}});
    JsonText end = JsonText::object({{"bp", "e"}, {"ts", microseconds(to.begun)}});
    start.add_members(arrow);
    end.add_members(arrow);
    add("s", from.worker, start);
    add("f", to.worker, end);
  }

 private:
  std::ostream& out_;
  bool first_ = true;
  uint64_t arrows_ = 0;
};

void add_names(const RecordedRun& run, Events& events) {
  const auto name = [](const char* what, const std::string& text) {
    return JsonText::object({{"name", what}, {"args", JsonText::object({{"name", text}})}});
  };
  events.add("M", 0, name("process_name", run.summary.program));
  uint32_t workers = 0;
  for (const dro::TaskRecord& launch : run.tasks) {
    for (const dro::TaskRecord::Task& task : launch.tasks)
      workers = std::max(workers, task.worker + 1);
  }
  for (uint32_t worker = 0; worker < workers; ++worker)
    events.add("M", worker, name("thread_name", fmt::format("worker {}", worker)));
}

void add_slices(const RecordedRun& run, const dro::TaskRecord& record, Events& events) {
  const dro::LaunchRecord& launch = run.summary.launches[record.launch - 1].record;
  const uint64_t blocks = launch.details.grid.count();
  for (size_t i = 0; i < record.tasks.size(); ++i) {
    const dro::TaskRecord::Task& task = record.tasks[i];
    events.add(
        "X", task.worker,
        JsonText::object(
            {{"ts", microseconds(task.begun)},
             {"dur", microseconds(task.ended - task.begun)},
             {"name", short_name(launch.details.kernel)},
             {"cat", "task"},
             {"args", JsonText::object({{"launch", record.launch},
                                        {"first_block", task.first_block},
                                        {"last_block", record.end_block(i, blocks) - 1},
                                        {"waited_us", microseconds(task.begun - task.taken)}})}}));
  }
}

}  // namespace

Status write_trace(const RecordedRun& run, std::ostream& out) {
  if (run.tasks.empty()) {
    return invalid_input("the journal holds no times of tasks", run.summary.program,
                         "record it with sluice run --trace --journal FILE");
  }
  std::map<dro::LaunchNumber, const dro::TaskRecord*> by_launch;
  for (const dro::TaskRecord& record : run.tasks)
    by_launch[record.launch] = &record;

  out << R"({"displayTimeUnit":"ns","traceEvents":[)";
  Events events(out);
  add_names(run, events);
  for (const dro::TaskRecord& record : run.tasks) {
    add_slices(run, record, events);
    for (const dro::TaskRecord::Delay& delay : record.delays) {
      const auto master = by_launch.find(delay.master);
      if (master == by_launch.end() || delay.master_task >= master->second->tasks.size() ||
          delay.task >= record.tasks.size()) {
        return invalid_input(
            fmt::format("launch {} waits for a task that is not there", record.launch),
            run.summary.program);
      }
      events.add_arrow(master->second->tasks[delay.master_task], record.tasks[delay.task]);
    }
  }
  out << "\n]}\n";
  return {};
}

}  // namespace sluice::tools
