// Rows of launches that come again: what is repeated at once is told, counted and left behind as
// if each launch had been followed by itself.
#include "dro/rule/launch_row.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "dro/declared_hash.hpp"
#include "dro/journal/journal_format.hpp"
#include "dro/random_launches.hpp"
#include "dro/rule/tracker.hpp"
#include "sanitized.hpp"

namespace sluice::dro::testing {
namespace {

constexpr uint32_t programs = SLUICE_IS_SANITIZED ? 10 : 40;

// Told is what a tracker has said, a line each.
class Told final : public Observer {
 public:
  void note(Record record) override { lines.push_back(text_of(record)); }
  void on_launch(const LaunchEntry& entry, InternedId interned,
                 std::span<const Dependence> found) override {
    begin(entry.number, interned);
    for (const Dependence& one : found)
      add(one.master, one.dro->id, one.dro->edges);
  }
  void on_row(const LaunchRow& row, LaunchNumber first) override {
    size_t at = 0;
    for (const RowLaunch& launch : row.launches()) {
      begin(first, launch.interned);
      for (uint32_t i = 0; i < launch.dependence_count; ++i, ++at) {
        const RowDependence& one = row.dependences()[at];
        add(one.master_of(first), one.dro, one.edges);
      }
      ++first;
    }
  }
  std::vector<std::string> lines;

 private:
  void begin(LaunchNumber number, InternedId interned) {
    lines.push_back("launch " + std::to_string(number) + " of " + std::to_string(interned));
  }
  void add(LaunchNumber master, DroId dro, EdgeTableId edges) {
    lines.back() += " [" + std::to_string(master) + "," + std::to_string(dro) + "," +
                    std::to_string(edges) + "]";
  }
};

// Follower gives launches to a tracker, where `rows` as rows.
class Follower {
 public:
  Follower(bool rows, const CacheLimits& limits)
      : rows_(rows), tracker_(Rule::exact, &told_, limits) {}

  DependenceTracker& tracker() { return tracker_; }
  const std::vector<std::string>& told() const { return told_.lines; }

  void launch(const TouchingLaunch& launch, LaunchRow* row = nullptr) {
    auto [id, is_new] = ids_.try_emplace(launch.footprint, 0);
    if (is_new || !tracker_.has_footprint(id->second))
      id->second = *tracker_.add_footprint(launch.footprint);
    std::vector<Dependence> found;
    KnownLaunch known;
    ASSERT_TRUE(tracker_.launch({++number_, id->second, launch.bound}, found, known));
    if (row != nullptr) row->note(known, found);
  }

  void launch(const std::vector<TouchingLaunch>& launches, LaunchRow& row) {
    const LaunchNumber first = number_ + 1;
    if (rows_ && tracker_.repeat(row, first)) {
      number_ += launches.size();
      return;
    }
    if (rows_) tracker_.begin_row(row);
    for (const TouchingLaunch& one : launches)
      launch(one, rows_ ? &row : nullptr);
    if (rows_) tracker_.end_row(row, first);
  }

 private:
  const bool rows_;
  Told told_;
  DependenceTracker tracker_;
  LaunchNumber number_ = 0;
  std::unordered_map<Footprint, FootprintId, DeclaredHash> ids_;
};

// Pair is a follower twice: with rows, and launch by launch.
class Pair {
 public:
  explicit Pair(uint32_t seed, const CacheLimits& limits = {})
      : with_(true, limits), without_(false, limits), dice_(seed), generator_(dice_, buffers_) {
    for (int i = 0; i < 5; ++i)
      add_buffer();
    for (int i = 0; i < 4; ++i)
      generator_.add_stencil_kernel();
    // What these may write is waited for by ever more: most of their rows never come to be known.
    for (int i = 0; i < 4 && seed % 4 == 0; ++i)
      generator_.add_kernel(48);
    if (seed % 4 == 0) generator_.add_atomic_kernel(48);
  }

  void run() {
    for (int i = 0; i < 3; ++i)
      rows_.push_back(new_row(dice_.pick(1, 6)));
    for (int i = 0; i < 12; ++i) {
      between();
      Row& row = rows_[size_t(dice_.pick(0, 2))];
      for (long run = dice_.pick(0, 7) == 0 ? 100 : dice_.pick(1, 12); run > 0; --run) {
        both([&](Follower& follower) { follower.launch(row.launches, *row.known); });
        if (dice_.pick(0, 29) == 0) between();
      }
    }
    EXPECT_EQ(with_.told(), without_.told());
    const auto& a = with_.tracker().counters();
    const auto& b = without_.tracker().counters();
    EXPECT_EQ(std::tie(a.launches, a.dros, a.dro_hits, a.resolved, a.edges, a.interned),
              std::tie(b.launches, b.dros, b.dro_hits, b.resolved, b.edges, b.interned));
    EXPECT_EQ(with_.tracker().effort(), without_.tracker().effort());
    EXPECT_EQ(b.repeated, 0U);
  }
  uint64_t repeated() { return with_.tracker().counters().repeated; }
  uint64_t launches() { return with_.tracker().counters().launches; }

 private:
  struct Row {
    std::vector<TouchingLaunch> launches;
    std::unique_ptr<LaunchRow> known;
  };

  template <class Do>
  void both(const Do& act) {
    act(with_);
    act(without_);
  }
  void add_buffer() {
    const BufferId id = ++last_buffer_;
    constexpr long bytes = 64;
    both([&](Follower& follower) { follower.tracker().buffer_created(id, bytes); });
    buffers_.push_back({id, bytes, 0});
  }
  Row new_row(long length) {
    Row row{{}, std::make_unique<LaunchRow>()};
    for (long i = 0; i < length; ++i)
      row.launches.push_back(generator_.launch(16));
    return row;
  }
  // between() is what comes between runs of rows, mostly nothing.
  void between() {
    const long kind = dice_.pick(0, 9);
    if (kind < 3) {
      const TouchingLaunch launch = generator_.launch(16);
      both([&](Follower& follower) { follower.launch(launch); });
    } else if (kind < 5) {
      const RandomBuffer& buffer = buffers_[size_t(dice_.pick(0, long(buffers_.size()) - 1))];
      const auto begin = uint64_t(dice_.pick(0, buffer.bytes - 8));
      both([&](Follower& follower) { follower.tracker().host_write(buffer.id, begin, begin + 8); });
    } else if (kind == 5) {
      const RandomBuffer gone = buffers_.front();
      buffers_.erase(buffers_.begin());
      both([&](Follower& follower) { follower.tracker().buffer_destroyed(gone.id); });
      add_buffer();
      for (Row& row : rows_)
        row = new_row(dice_.pick(1, 6));
    } else if (kind == 6) {
      add_buffer();
    }
  }

  Follower with_, without_;
  Generator dice_;
  std::vector<RandomBuffer> buffers_;
  LaunchGenerator generator_;
  std::vector<Row> rows_;
  BufferId last_buffer_ = 0;
};

TEST(LaunchRow, LeavesWhatItsLaunchesLeaveOneByOne) {
  uint64_t repeated = 0, launches = 0;
  const char* count = std::getenv("SLUICE_DRO_PROGRAMS");
  const uint32_t seeds = count == nullptr ? programs : uint32_t(std::atoi(count));
  for (uint32_t seed = 0; seed < seeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair pair(seed);
    pair.run();
    repeated += pair.repeated();
    launches += pair.launches();
  }
  EXPECT_GT(repeated, launches / 5);
}

TEST(LaunchRow, LeavesThemWhereCachesAreFull) {
  for (uint32_t seed = 100; seed < 100 + programs / 2 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pair(seed, {.launches = 4, .pairs = 4, .footprints = 4}).run();
  }
}

}  // namespace
}  // namespace sluice::dro::testing
