// What waits to be written to a journal: repeat launches as plain words, so that appending one
// costs some nanoseconds and allocates nothing, and all else as values. Internal to the journal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dro/journal/journal_format.hpp"
#include "dro/rule/launch_row.hpp"

namespace sluice::dro {

// LaunchMiddles is what the writer of lines remembers from one batch to the next: of repeat
// launches all that stands between the number and the dependences, by interned launch.
using LaunchMiddles = std::vector<std::string>;

// JournalBatch holds records in order. Not thread-safe.
//
// Words are first put where only the adding thread writes and, but for every few thousand launches,
// reads: a store to what another processor has read waits for it, and so does the next lock. They
// go on many at a time, when such waits overlap.
class JournalBatch {
 public:
  // Interned launches from here on are written out each time.
  static constexpr InternedId most_repeated = 4096;

  void add(Record record);
  // add_repeat() adds a tracked launch of which only number and dependences differ from the last
  // one added as a record with the same interned id, which is below most_repeated. False, with
  // nothing added, where the numbers are too large for it.
  bool add_repeat(LaunchNumber number, InternedId interned,
                  std::span<const Dependence> dependences);

  // add() of a row does so for each of its launches, where can_add() says that it can.
  static bool can_add(const LaunchRow& row, LaunchNumber first);
  void add(const LaunchRow& row, LaunchNumber first);

  bool empty() const { return size() == 0; }
  // size() is how much waits, in words; a record counts as a few hundred.
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

  // for_each_line() calls line(text) with each record's line, unsealed. `middles` are those of all
  // batches before it.
  template <class Use>
  void for_each_line(LaunchMiddles& middles, Use&& use) {
    settle();
    std::string line;
    for (size_t at = 0; at < words_.size();) {
      next_line(at, middles, line);
      use(line);
    }
  }

 private:
  // append() is where so many words are to be written.
  uint64_t* append(size_t words) {
    if (words > recent_.size() - recent_count_) return append_many(words);
    uint64_t* const place = recent_.data() + recent_count_;
    recent_count_ += words;
    return place;
  }
  uint64_t* append_many(size_t words);
  void settle();
  void next_line(size_t& at, LaunchMiddles& middles, std::string& line) const;

  std::vector<uint64_t> words_;
  std::vector<Record> records_;
  size_t recent_count_ = 0;
  std::array<uint64_t, 512> recent_;  // words behind words_
};

}  // namespace sluice::dro
