// What waits to be written to a journal: launches as plain words, so that appending one costs some
// nanoseconds and allocates nothing, and what comes seldom as values. Internal to the journal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dro/journal/journal_format.hpp"
#include "dro/journal/task_record.hpp"

namespace sluice::dro {

// LaunchTexts is what the writer of lines remembers from one batch to the next: the texts that
// launches name by their numbers, and for repeat launches all that stands between a launch's number
// and its dependences.
struct LaunchTexts {
  std::vector<std::string> texts = {""};
  std::vector<std::string> middles;  // by interned launch
};

// JournalBatch holds records in order. Texts of launches are numbered by the caller, from 0 in the
// order of add_text(); number 0 is the empty text. Not thread-safe.
//
// Words are first put where only the adding thread writes and, but for every few thousand launches,
// reads: a store to what another processor has read waits for it, and so does the next lock. They
// go on many at a time, when such waits overlap.
class JournalBatch {
 public:
  // LaunchHead is all of a launch but its lists.
  struct LaunchHead {
    LaunchNumber number = 0;
    uint32_t kernel = 0;  // text
    uint32_t reason = 0;  // text
    Dim3 grid;
    Dim3 block;
    uint64_t stream = 0;
    bool tracked = false;
    FootprintId footprint = 0;
    InternedId interned = 0;

    // says_the_same() leaves out the launch's number.
    bool says_the_same(const LaunchHead& other) const {
      return tracked == other.tracked && interned == other.interned && kernel == other.kernel &&
             reason == other.reason && stream == other.stream && grid == other.grid &&
             block == other.block;
    }
  };

  // Interned launches from here on are written out each time.
  static constexpr InternedId most_repeated = 4096;

  void add_launch(const LaunchHead& head, std::span<const BoundArgument> arguments,
                  std::span<const Dependence> dependences);
  // add_repeat() adds a tracked launch of which only number and dependences differ from the last
  // one added in full with the same interned id, which is below most_repeated; its arguments are
  // those of the interned launch. False, with nothing added, where the numbers are too large for
  // it.
  bool add_repeat(LaunchNumber number, InternedId interned,
                  std::span<const Dependence> dependences);
  void add_line(std::string text) { add({Line{std::move(text)}}); }
  void add_text(std::string text) { add({Text{std::move(text)}}); }
  void add_footprint(FootprintId id, const analysis::Footprint& footprint) {
    add({Footprint{id, footprint}});
  }
  void add_edges(EdgeTableId id, const EdgeTable& table) { add({Edges{id, table}}); }

  void add_tasks(TaskRecord tasks) { add({std::move(tasks)}); }

  bool empty() const { return size() == 0; }
  // size() is how much waits, in words; a record that is no launch counts as a few hundred.
  size_t size() const { return words_.size() + recent_count_ + 256 * records_.size(); }
  void clear() {
    words_.clear();
    records_.clear();
    recent_count_ = 0;
  }

  // take() moves all that `other` holds here, where nothing is. Memory is exchanged with it.
  void take(JournalBatch& other) {
    other.settle();
    words_.swap(other.words_);
    records_.swap(other.records_);
  }

  // for_each_line() calls line(text) with each record's line, unsealed. `texts` are those of all
  // batches before it.
  template <class Use>
  void for_each_line(LaunchTexts& texts, Use&& use) {
    settle();
    std::string line;
    for (size_t at = 0; at < words_.size();) {
      next_line(at, texts, line);
      if (!line.empty()) use(line);
    }
  }

 private:
  struct Line {
    std::string text;
  };
  struct Text {
    std::string text;
  };
  struct Footprint {
    FootprintId id;
    analysis::Footprint footprint;
  };
  struct Edges {
    EdgeTableId id;
    EdgeTable table;
  };
  using Record = std::variant<Line, Text, Footprint, Edges, TaskRecord>;

  void add(Record record);
  // append() is where so many words are to be written.
  uint64_t* append(size_t words) {
    if (words > recent_.size() - recent_count_) return append_many(words);
    uint64_t* const place = recent_.data() + recent_count_;
    recent_count_ += words;
    return place;
  }
  uint64_t* append_many(size_t words);
  void settle();
  void next_line(size_t& at, LaunchTexts& texts, std::string& line) const;
  void next_record(const Record& record, LaunchTexts& texts, std::string& line) const;
  void repeat_line(size_t& at, const LaunchTexts& texts, std::string& line) const;
  LaunchRecord read_launch(size_t& at, const std::vector<std::string>& texts) const;

  std::vector<uint64_t> words_;
  std::vector<Record> records_;
  size_t recent_count_ = 0;
  std::array<uint64_t, 512> recent_;  // words behind words_
};

}  // namespace sluice::dro
