// The journal: one line of JSON for each thing that happened, each line sealed with a checksum.
// docs/journal.md describes the format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "dro/records/record.hpp"
#include "dro/rule.hpp"
#include "dro/rule/tracker.hpp"

namespace sluice::dro {

// LaunchView is LaunchDetails without copies of their text.
struct LaunchView {
  std::string_view kernel;
  Dim3 grid;
  Dim3 block;
  StreamName stream;
  std::string_view passed_through;
  std::optional<analysis::Widening> widening;
};

// JournalWriter writes what the tracker finds, in program order. Formatting and writing happen on
// a thread of its own, some milliseconds later; others only append. Destruction writes all that is
// left. A program that ends without it loses those milliseconds, and no line is ever cut by that
// alone. All functions are thread-safe but those that tell of a launch, describe_launch() and
// on_launch(), on_given_up() or on_opaque_launch() after it, and on_row(): one thread at a time may
// call these.
class JournalWriter : public Observer {
 public:
  // open() creates (or truncates) `path` and writes the header. An error says why it cannot.
  static Result<std::unique_ptr<JournalWriter>> open(const std::string& path, Rule rule,
                                                     const std::string& program);
  ~JournalWriter() override;

  // describe_launch() gives the details of the launch whose on_launch() or on_opaque_launch()
  // comes next: both end up in one line.
  void describe_launch(const LaunchView& launch);

  // flush() returns when every record so far is in the file.
  void flush();

  // note() writes any other record; a warning is logged too.
  void note(Record record) override;
  void on_launch(const LaunchEntry&, InternedId, std::span<const Dependence>) override;
  // can_repeat() is whether on_row() may come for this row now.
  bool can_repeat(const LaunchRow& row, LaunchNumber first) const;
  void on_row(const LaunchRow& row, LaunchNumber first) override;
  void on_given_up(const LaunchEntry&, InternedId) override;
  void on_opaque_launch(LaunchNumber, const std::string& reason) override;

 private:
  struct State;
  explicit JournalWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice::dro
