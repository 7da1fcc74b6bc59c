// What launches depend on, and the journal of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dro/journal/journal.hpp"
#include "dro/rule.hpp"
#include "runtime/launch/known_graphs.hpp"
#include "runtime/launch/lent_tracker.hpp"
#include "runtime/launch/understood.hpp"
#include "runtime/policy/policy.hpp"

namespace sluice::runtime {

using Dependences = std::span<const dro::Dependence>;

// LaunchFollower numbers launches and follows them. Not thread-safe.
class LaunchFollower {
 public:
  // `journal` may be null. `follows`: as LentTracker's.
  LaunchFollower(Background& background, dro::Rule rule,
                 std::unique_ptr<dro::JournalWriter> journal, bool follows);

  dro::LaunchNumber next_number() { return ++last_; }
  uint64_t launches() const { return last_; }

  // Where the tracker is lent, launches can only be passed.
  LentTracker& tracker() { return tracker_; }
  KnownGraphs& graphs() { return graphs_; }

  // knows() is whether follow() needs look-ups alone.
  bool knows(const Known& launch);
  // follow() finds what a launch depends on, valid until the next call; nothing where that would
  // cost too much, and then the launch is as one that pass() is told of. The journal says on which
  // stream it was and, where `passed_through` is not empty, why it does not run as tasks. Launches
  // before `held` need not be waited for; without a journal, where many are live, they are not told
  // of.
  std::optional<Dependences> follow(const Known& launch, const dro::StreamName& stream,
                                    std::string_view passed_through, dro::LaunchNumber held);
  // begin_row() says that the launches up to end_row() are a run of `row`; end_row() is whether the
  // tracker knows the row now. repeat() is a further run: false, and nothing was done, where each
  // of its launches must be followed.
  void begin_row(dro::LaunchRow& row);
  bool end_row();
  bool repeat(dro::LaunchRow& row);
  // begin() lends the tracker to follow a launch in the background, measured by `clock`. When
  // tracker().away() has come, end() is what was found. give_up() says that the launch goes to the
  // device meanwhile; it is false where there is no need to.
  struct Search {
    bool is_followed = false;
    std::vector<dro::Dependence> found;
    int64_t nanoseconds = 0;
    uint64_t steps = 0;  // of the tracker
  };
  std::shared_ptr<const Search> begin(const Known& launch, const dro::StreamName& stream,
                                      std::string_view passed_through, dro::LaunchNumber held,
                                      Policy::Clock clock);
  bool give_up();
  // Why a launch that was given up is no task.
  static constexpr const char* why_late = "what it depends on had not been found yet";
  // pass() is a launch of which nothing is known: it is ordered after all before it, and all after
  // it after it.
  void pass(dro::LaunchNumber number, const dro::LaunchView& launch, const std::string& reason);
  // tell() puts a verdict of the policy, or a sentence, into the journal, or else the log.
  void tell(const Policy::Verdict& verdict);
  void tell(const std::string& text);
  // finish() completes the journal. Nothing else may be called after it but tracker().
  void finish();

  dro::JournalWriter* journal() const { return journal_.get(); }

 private:
  // Heard is what the tracker says, to the journal or else the log.
  class Heard final : public dro::Observer {
   public:
    enum class Claim { none, open, found, late };
    explicit Heard(dro::JournalWriter* journal) : journal_(journal) {}
    // A search claims that its launch was found, unless that was given up before.
    void open(const dro::LaunchView& launch);
    bool give_up();

    void note(dro::Record record) override;
    void on_launch(const dro::LaunchEntry& entry, dro::InternedId interned,
                   std::span<const dro::Dependence> found) override;
    void on_row(const dro::LaunchRow& row, dro::LaunchNumber first) override;
    void on_given_up(const dro::LaunchEntry& entry, dro::InternedId interned) override;
    void on_opaque_launch(dro::LaunchNumber number, const std::string& reason) override;

   private:
    // claim() ends the search, if there is one, and describes its launch to the journal.
    void claim();

    dro::JournalWriter* const journal_;  // null: the log
    std::atomic<Claim> claim_{Claim::none};
    dro::LaunchView searched_;
    std::string kernel_;  // its texts
    std::string passed_through_;
  };

  dro::LaunchEntry entry_of(const Known& launch, dro::LaunchNumber held) const;

  std::unique_ptr<dro::JournalWriter> journal_;
  Heard heard_;
  LentTracker tracker_;
  dro::LaunchNumber last_ = 0;
  std::vector<dro::Dependence> found_;
  KnownGraphs graphs_;
  dro::LaunchRow* row_ = nullptr;  // whose run goes on
  dro::LaunchNumber row_first_ = 0;
};

}  // namespace sluice::runtime
