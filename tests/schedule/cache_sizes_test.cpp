// The caches of a machine, as the kernel describes them.
#include "schedule/cache_sizes.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"

namespace sluice::schedule {
namespace {

namespace fs = std::filesystem;

// A processor's caches, described as Linux does in /sys.
class CacheSizesTest : public testing::Test {
 protected:
  void add(int level, const std::string& size) {
    const fs::path cache = folder_.path() / ("index" + std::to_string(caches_++));
    fs::create_directories(cache);
    std::ofstream(cache / "level") << level << '\n';
    std::ofstream(cache / "size") << size << '\n';
  }
  CacheSizes read() const { return read_cache_sizes(folder_.path().string()); }

 private:
  const ScratchFolder folder_;
  int caches_ = 0;
};

TEST_F(CacheSizesTest, AreThoseOfTheSecondAndTheLastLevel) {
  add(1, "32K");
  add(1, "32K");
  add(2, "1024K");
  add(3, "32768K");
  EXPECT_EQ(read().own, uint64_t{1} << 20U);
  EXPECT_EQ(read().last, uint64_t{32} << 20U);
}

TEST_F(CacheSizesTest, HaveTheSecondLevelAsTheLastWhereThereIsNoThird) {
  add(1, "64K");
  add(2, "2M");
  EXPECT_EQ(read().own, uint64_t{2} << 20U);
  EXPECT_EQ(read().last, uint64_t{2} << 20U);
}

TEST_F(CacheSizesTest, AreThoseOfTheLibraryWhereNothingIsDescribed) {
  const CacheSizes sizes = read();
  EXPECT_GE(sizes.last, sizes.own);
}

}  // namespace
}  // namespace sluice::schedule
