#include "runtime/memory_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

class MemoryRegistryTest : public ::testing::Test {
 protected:
  dro::BufferId allocate(uint64_t address, uint64_t bytes) {
    return registry.allocated(address, bytes, displaced);
  }

  MemoryRegistry registry;
  std::vector<dro::BufferId> displaced;
};

TEST_F(MemoryRegistryTest, FindsTheAllocationOfEachOfItsBytesAndNoOther) {
  const dro::BufferId buffer = allocate(1000, 50);
  const Allocation expected{buffer, 1000, 50};
  EXPECT_EQ(registry.find(1000), expected);
  EXPECT_EQ(registry.find(1049), expected);
  EXPECT_EQ(registry.find(999), std::nullopt);
  EXPECT_EQ(registry.find(1050), std::nullopt);
}

TEST_F(MemoryRegistryTest, NeighboursStayApart) {
  const dro::BufferId first = allocate(1000, 50);
  const dro::BufferId second = allocate(1050, 50);
  EXPECT_EQ(registry.find(1049)->buffer, first);
  EXPECT_EQ(registry.find(1050)->buffer, second);
  EXPECT_EQ(registry.freed(1050), (Allocation{second, 1050, 50}));
  EXPECT_EQ(registry.find(1049)->buffer, first);
  EXPECT_EQ(registry.find(1050), std::nullopt);
}

TEST_F(MemoryRegistryTest, OnlyTheBeginningFrees) {
  allocate(1000, 50);
  EXPECT_EQ(registry.freed(1010), std::nullopt);
  EXPECT_TRUE(registry.freed(1000));
  EXPECT_EQ(registry.freed(1000), std::nullopt);
}

TEST_F(MemoryRegistryTest, EveryAllocationHasANewId) {
  const dro::BufferId first = allocate(1000, 50);
  registry.freed(1000);
  EXPECT_NE(allocate(1000, 50), first);
  EXPECT_TRUE(displaced.empty());
}

TEST_F(MemoryRegistryTest, AnAllocationOverOthersDisplacesThemWhole) {
  const dro::BufferId first = allocate(1000, 50);
  const dro::BufferId second = allocate(1050, 50);
  const dro::BufferId third = allocate(1040, 20);
  EXPECT_THAT(displaced, ::testing::UnorderedElementsAre(first, second));
  EXPECT_EQ(registry.find(1030), std::nullopt);
  EXPECT_EQ(registry.find(1040), (Allocation{third, 1040, 20}));
  EXPECT_EQ(registry.find(1070), std::nullopt);
}

}  // namespace
}  // namespace sluice::runtime
