// A driver whose launches are journalled, and whose journal must replay bit for bit at its end.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dro/handwritten.hpp"
#include "dro/journal/journal.hpp"
#include "dro/recorded/replay.hpp"

namespace sluice::dro::testing {

class ReplayedDriver {
 public:
  ReplayedDriver()
      : path_(new_path()),
        journal_(std::move(*JournalWriter::open(path_, Rule::exact, "test"))),
        driver_(Rule::exact, journal_.get()) {}
  ~ReplayedDriver() {
    journal_->flush();
    const auto result = replay(path_);
    EXPECT_TRUE(result) << (result ? "" : result.error().line());
    if (result) {
      EXPECT_EQ(result->difference, "");
    }
    std::filesystem::remove(path_);
  }
  ReplayedDriver(const ReplayedDriver&) = delete;
  ReplayedDriver& operator=(const ReplayedDriver&) = delete;

  BufferId buffer(uint64_t bytes) { return driver_.buffer(bytes); }
  std::vector<Dependence> launch(const Footprint& footprint, std::vector<BoundArgument> arguments) {
    journal_->describe_launch({footprint.kernel, footprint.shape.grid, footprint.shape.block, {}});
    return driver_.launch(footprint, std::move(arguments));
  }
  LaunchNumber launches() const { return driver_.launches(); }
  LaunchNumber next_number() { return driver_.next_number(); }
  DependenceTracker& tracker() { return driver_.tracker(); }
  uint64_t edges(const Dependence& dependence) const { return driver_.edges(dependence); }

 private:
  static std::string new_path() {
    static int count = 0;
    return std::filesystem::temp_directory_path() /
           ("sluice_replayed_" + std::to_string(getpid()) + "_" + std::to_string(++count));
  }

  const std::string path_;
  const std::unique_ptr<JournalWriter> journal_;
  Driver driver_;
};

}  // namespace sluice::dro::testing
