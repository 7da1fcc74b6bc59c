// The journal: one line of JSON for each thing that happened, each line sealed with a checksum.
// docs/journal.md describes the format.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "dro/journal/check_record.hpp"
#include "dro/journal/task_record.hpp"
#include "dro/rule/tracker.hpp"

namespace sluice::dro {

// LaunchDetails is what people want to know of a launch beside its dependences.
struct LaunchDetails {
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  uint64_t stream = 0;  // 0: the default stream, else counted from 1 in order of first use
  // Why a launch that the tracker understood was nevertheless given to the driver as it was (a
  // device without block code, say); empty where the megakernel ran it. The reason of an opaque
  // launch comes with on_opaque_launch().
  std::string passed_through;
};

// LaunchView is LaunchDetails without copies of their text.
struct LaunchView {
  std::string_view kernel;
  Dim3 grid;
  Dim3 block;
  uint64_t stream = 0;
  std::string_view passed_through;
};

// JournalWriter writes what the tracker finds, in program order. Formatting and writing happen on
// a thread of its own, some milliseconds later; others only append. Destruction writes all that is
// left. A program that ends without it loses those milliseconds, and no line is ever cut by that
// alone. All functions are thread-safe but those that tell of a launch, describe_launch() and
// on_launch() or on_opaque_launch() after it: one thread at a time may call these.
class JournalWriter : public Observer {
 public:
  // open() creates (or truncates) `path` and writes the header. An error says why it cannot.
  static Result<std::unique_ptr<JournalWriter>> open(const std::string& path, Rule rule,
                                                     const std::string& program);
  ~JournalWriter() override;

  // describe_launch() gives the details of the launch whose on_launch() or on_opaque_launch()
  // comes next: both end up in one line.
  void describe_launch(const LaunchView& launch);

  // note_check() writes what the footprint check found for one kernel.
  void note_check(const CheckRecord& check);

  // note_tasks() writes when the tasks of a launch ran. Any thread may call it.
  void note_tasks(TaskRecord tasks);

  // flush() returns when every record so far is in the file.
  void flush();

  void on_buffer_created(BufferId, uint64_t bytes) override;
  void on_buffer_destroyed(BufferId) override;
  void on_footprint(FootprintId, const analysis::Footprint&) override;
  void on_edge_table(EdgeTableId, const EdgeTable&) override;
  void on_dro(const Dro&) override;
  void on_launch(const LaunchEntry&, InternedId, std::span<const Dependence>) override;
  void on_opaque_launch(LaunchNumber, const std::string& reason) override;
  void on_host_write(BufferId, uint64_t begin, uint64_t end) override;
  // on_warning() also logs the sentence.
  void on_warning(const std::string&) override;

 private:
  struct State;
  explicit JournalWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::dro
