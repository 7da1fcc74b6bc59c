#include "hostcuda/driver/memory/allocation_table.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace sluice::hostcuda {
namespace {

constexpr size_t capacity = 64 << 20;

TEST(AllocationTable, AlignsEveryKindToTheGranulesOfADriver) {
  AllocationTable table(capacity);
  for (const MemoryKind kind :
       {MemoryKind::device, MemoryKind::managed, MemoryKind::array, MemoryKind::host}) {
    for (const size_t bytes : {1, 511, 513, 5000, 1 << 20}) {
      EXPECT_EQ(*table.allocate(kind, bytes, 0, nullptr) % 512, 0u) << bytes;
    }
  }
}

TEST(AllocationTable, FindsTheAllocationOfEveryAddressInIt) {
  AllocationTable table(capacity);
  const uintptr_t address = *table.allocate(MemoryKind::managed, 1000, 3, nullptr);
  for (const uintptr_t inside : {address, address + 1, address + 999}) {
    ASSERT_TRUE(table.find(inside).has_value());
    EXPECT_EQ(table.find(inside)->address, address);
    EXPECT_EQ(table.find(inside)->kind, MemoryKind::managed);
    EXPECT_EQ(table.find(inside)->flags, 3u);
  }
  EXPECT_FALSE(table.find(address - 1).has_value());
  EXPECT_FALSE(table.find(address + 1000).has_value());
}

TEST(AllocationTable, CoversRangesWithoutOverflow) {
  const Allocation allocation{.address = 1000, .bytes = 100};
  EXPECT_TRUE(allocation.covers(1000, 100));
  EXPECT_TRUE(allocation.covers(1099, 1));
  EXPECT_FALSE(allocation.covers(1099, 2));
  EXPECT_FALSE(allocation.covers(999, 1));
  EXPECT_FALSE(allocation.covers(1050, SIZE_MAX));
}

TEST(AllocationTable, RefusesMoreThanTheCapacityAndTakesBackWhatIsFreed) {
  AllocationTable table(1000);
  EXPECT_FALSE(table.allocate(MemoryKind::device, 1001, 0, nullptr).has_value());
  EXPECT_FALSE(table.allocate(MemoryKind::device, SIZE_MAX, 0, nullptr).has_value());
  const uintptr_t first = *table.allocate(MemoryKind::device, 600, 0, nullptr);
  EXPECT_EQ(table.used(), 600u);
  EXPECT_FALSE(table.allocate(MemoryKind::device, 600, 0, nullptr).has_value());
  EXPECT_TRUE(table.release(first, MemoryKind::device));
  EXPECT_EQ(table.used(), 0u);
  EXPECT_TRUE(table.allocate(MemoryKind::device, 600, 0, nullptr).has_value());
}

TEST(AllocationTable, ReleasesOnlyStartsOfTheSameKind) {
  AllocationTable table(capacity);
  const uintptr_t address = *table.allocate(MemoryKind::host, 64, 0, nullptr);
  EXPECT_FALSE(table.release(address + 1, MemoryKind::host));
  EXPECT_FALSE(table.release(address, MemoryKind::device));
  EXPECT_TRUE(table.release(address, MemoryKind::host));
  EXPECT_FALSE(table.release(address, MemoryKind::host));
}

TEST(AllocationTable, RefusesOverlappingRegistrations) {
  AllocationTable table(capacity);
  const auto add = [&](uintptr_t address, size_t bytes) {
    return table.add({.address = address, .bytes = bytes, .kind = MemoryKind::registered});
  };
  EXPECT_TRUE(add(0x1000, 0x100));
  EXPECT_FALSE(add(0x1000, 0x100));
  EXPECT_FALSE(add(0x0fff, 2));
  EXPECT_FALSE(add(0x10ff, 1));
  EXPECT_FALSE(add(0x0800, 0x10000));
  EXPECT_TRUE(add(0x1100, 1));
  EXPECT_TRUE(add(0x0fff, 1));
}

TEST(AllocationTable, ReleasesAllOfOneOwner) {
  AllocationTable table(capacity);
  const int owner = 0;
  const uintptr_t owned = *table.allocate(MemoryKind::device, 100, 0, &owner);
  const uintptr_t other = *table.allocate(MemoryKind::device, 100, 0, &table);
  table.release_owned_by(&owner);
  EXPECT_FALSE(table.find(owned).has_value());
  EXPECT_TRUE(table.find(other).has_value());
  EXPECT_EQ(table.used(), 100u);
}

TEST(AllocationTable, GivesEveryAllocationItsOwnNumber) {
  AllocationTable table(capacity);
  const uintptr_t first = *table.allocate(MemoryKind::device, 100, 0, nullptr);
  const uint64_t id = table.find(first)->id;
  table.release(first, MemoryKind::device);
  const uintptr_t second = *table.allocate(MemoryKind::device, 100, 0, nullptr);
  EXPECT_NE(table.find(second)->id, id);
}

}  // namespace
}  // namespace sluice::hostcuda
