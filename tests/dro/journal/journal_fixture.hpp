// A journal in a folder of its own, and the means to change it.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "dro/handwritten.hpp"
#include "dro/journal/journal.hpp"
#include "dro/journal/journal_format.hpp"
#include "dro/recorded/replay.hpp"

namespace sluice::dro::testing {

class JournalTest : public ::testing::Test {
 protected:
  // write_stencil() journals `launches` ping-pong launches on a grid of 4 x 4 blocks.
  void write_stencil(uint32_t launches) {
    auto journal = JournalWriter::open(path_, Rule::exact, "stencil --size 64");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    driver.tracker().host_write(a, 0, 64 * 64 * 4);
    const Footprint step = stencil(64, 16);
    for (uint32_t t = 0; t < launches; ++t) {
      (*journal)->describe_launch({step.kernel, step.shape.grid, step.shape.block, {}});
      const BufferId from = t % 2 == 0 ? a : b;
      driver.launch(step, {{from, 0}, {a + b - from, 0}});
    }
    driver.tracker().buffer_destroyed(a);
  }

  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);)
      result.push_back(line);
    return result;
  }
  void write_lines(const std::vector<std::string>& lines) const {
    std::ofstream file(path_);
    for (const std::string& line : lines)
      file << line << '\n';
  }
  // line_of() is the index of the first line of a kind.
  size_t line_of(const std::string& kind) const {
    const auto all = lines();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].find("\"record\":\"" + kind + "\"") != std::string::npos) return i;
    }
    ADD_FAILURE() << "no record of kind " << kind;
    return 0;
  }
  // change() replaces text in one line; with `reseal` the line's seal is made right again.
  void change(size_t index, const std::string& from, const std::string& to, bool reseal) {
    auto all = lines();
    std::string& line = all[index];
    const size_t place = line.find(from);
    ASSERT_NE(place, std::string::npos);
    std::string text = *unsealed(line);
    text.replace(place, from.size(), to);
    line = reseal ? sealed(text) : line.replace(place, from.size(), to);
    write_lines(all);
  }
  std::string error_of_replay() const {
    const auto result = replay(path_);
    return result ? result->difference : result.error().line();
  }

  const ScratchFolder scratch_;
  std::string path_ = scratch_.file("journal");
};

}  // namespace sluice::dro::testing
