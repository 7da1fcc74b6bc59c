// Which allocation an address lies in, and who hears of it.
#include "runtime/code/buffers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/fake_device.hpp"

namespace sluice::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Witness final : public Observer {
 public:
  explicit Witness(std::vector<dro::BufferId>& gone) : gone_(gone) {}
  Wants wants() const override { return {}; }
  void buffer_destroyed(dro::BufferId buffer) override { gone_.push_back(buffer); }

 private:
  std::vector<dro::BufferId>& gone_;
};

class BuffersTest : public ::testing::Test {
 protected:
  BuffersTest() { observers_.add(std::make_unique<Witness>(gone)); }

  testing::FakeDevice device_;
  Background background_{true};
  LentTracker tracker_{background_, dro::Rule::exact, nullptr};
  Observers observers_;
  std::vector<dro::BufferId> gone;
  Buffers buffers{device_, tracker_, observers_};
};

TEST_F(BuffersTest, FindsTheAllocationOfEachOfItsBytesAndNoOther) {
  const dro::BufferId buffer = buffers.add(1000, 50);
  const Allocation expected{buffer, 1000, 50};
  EXPECT_EQ(buffers.find(1000), expected);
  EXPECT_EQ(buffers.find(1049), expected);
  EXPECT_EQ(buffers.find(999), std::nullopt);
  EXPECT_EQ(buffers.find(1050), std::nullopt);
}

TEST_F(BuffersTest, NeighboursStayApart) {
  const dro::BufferId first = buffers.add(1000, 50);
  const dro::BufferId second = buffers.add(1050, 50);
  EXPECT_EQ(buffers.find(1049)->buffer, first);
  EXPECT_EQ(buffers.find(1050)->buffer, second);
  buffers.remove(1050);
  EXPECT_THAT(gone, ElementsAre(second));
  EXPECT_EQ(buffers.find(1049)->buffer, first);
  EXPECT_EQ(buffers.find(1050), std::nullopt);
}

TEST_F(BuffersTest, OnlyTheBeginningFrees) {
  const dro::BufferId buffer = buffers.add(1000, 50);
  buffers.remove(1010);
  EXPECT_THAT(gone, IsEmpty());
  buffers.remove(1000);
  buffers.remove(1000);
  EXPECT_THAT(gone, ElementsAre(buffer));
}

TEST_F(BuffersTest, EveryAllocationHasANewId) {
  const dro::BufferId first = buffers.add(1000, 50);
  buffers.remove(1000);
  EXPECT_NE(buffers.add(1000, 50), first);
  EXPECT_THAT(gone, ElementsAre(first));
}

TEST_F(BuffersTest, AnAllocationOverOthersDisplacesThemWhole) {
  const dro::BufferId first = buffers.add(1000, 50);
  const dro::BufferId second = buffers.add(1050, 50);
  const dro::BufferId third = buffers.add(1040, 20);
  EXPECT_THAT(gone, UnorderedElementsAre(first, second));
  EXPECT_EQ(buffers.find(1030), std::nullopt);
  EXPECT_EQ(buffers.find(1040), (Allocation{third, 1040, 20}));
  EXPECT_EQ(buffers.find(1070), std::nullopt);
}

}  // namespace
}  // namespace sluice::runtime
