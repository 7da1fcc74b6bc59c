// Which pairs of launches and copies a check for races tells of.
#include "runtime/races/race_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relation_text.hpp"

namespace sluice::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

const StreamKey a{nullptr, reinterpret_cast<void*>(0x1000)};
const StreamKey b{nullptr, reinterpret_cast<void*>(0x2000)};

// Access of four blocks of 64 bytes each; `may` makes a write one that may not happen.
analysis::Footprint footprint(bool reads, bool writes, bool may = false) {
  const Relation own = sluice::testing::relation_of(
      "{ B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 3 and 64x <= o < 64x + 64 }");
  analysis::Footprint result;
  result.shape.grid = {4, 1, 1};
  analysis::ArgumentFootprint& argument = result.arguments.emplace_back();
  if (reads) argument.reads.relation = own;
  if (writes) (may ? argument.may_writes : argument.must_writes).relation = own;
  return result;
}

class Races : public ::testing::Test {
 protected:
  Races() {
    add(1, footprint(true, false));
    add(2, footprint(false, true));
    add(3, footprint(false, true, true));
    analysis::Footprint anywhere = footprint(false, false);
    anywhere.arguments[0].reads.precision = analysis::Precision::whole_buffer;
    add(4, anywhere);
  }

  void add(dro::FootprintId id, const analysis::Footprint& footprint) {
    check_.add(id, std::make_shared<FootprintBytes>(footprint, context_));
  }

  std::shared_ptr<TracedBytes> launch(const StreamKey& stream, const char* name,
                                      dro::FootprintId footprint, uint64_t offset = 0,
                                      dro::BufferId buffer = 7) {
    const AccessedBytes where{buffer, 1024, 0, 0x10000};
    const dro::BoundArgument bound{buffer, offset};
    Action action{name, ++launches_, {4, 1, 1}, {16, 1, 1}, {}, {}};
    return check_.launch(stream, action, footprint, {&where, 1}, {&bound, 1});
  }

  void copy(const StreamKey& stream, int64_t first, int64_t last, bool writes) {
    const RaceCheck::CopyRange range{{7, 1024, -1, 0x10000}, {first, last + 1}, writes};
    check_.copy(stream, {.name = "cuMemcpyAsync"}, {&range, 1});
  }

  FaultReport report_{Checks(), "a test"};
  IslContext context_;
  RaceCheck check_{report_, context_};
  uint64_t launches_ = 0;
};

TEST_F(Races, AWriterAndAReaderRaceTwoReadersDoNot) {
  launch(a, "first", 1);
  launch(b, "second", 1);
  EXPECT_EQ(check_.races(), 0u);
  CaptureStderr();
  launch(b, "writer", 2);
  const std::string told = GetCapturedStderr();
  EXPECT_EQ(check_.races(), 1u) << told;
  EXPECT_THAT(told, HasSubstr("race: bytes 0 to 255 of buffer 7 (1024 bytes)"));
  EXPECT_THAT(told, Not(HasSubstr("possible")));
  EXPECT_THAT(told, HasSubstr("first #1"));
  EXPECT_THAT(told, HasSubstr("writer #3"));
}

TEST_F(Races, AreToldOncePerPairOfKernels) {
  CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    launch(a, "writer", 2);
    launch(b, "reader", 1);
  }
  const std::string told = GetCapturedStderr();
  EXPECT_EQ(check_.races(), 2u) << told;  // writer, reader and reader, writer
}

TEST_F(Races, OnlyCommonBytesOfOneBufferCount) {
  CaptureStderr();
  launch(a, "writer", 2);
  launch(b, "elsewhere", 2, 256);
  launch(b, "other buffer", 2, 0, 8);
  EXPECT_EQ(check_.races(), 0u);
  launch(b, "overlap", 2, 255);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("race: bytes 255 to 255 of buffer 7"));
  EXPECT_EQ(check_.races(), 1u);
}

// Launches that differ in a few numbers share relations with parameters.
TEST_F(Races, AFootprintWithParametersIsExactToo) {
  analysis::Footprint family = footprint(false, false);
  family.arguments[0].must_writes.relation = sluice::testing::relation_of(
      "[p] -> { B[x, y = 0, z = 0] -> A[o] : 0 <= x <= 3 and p <= o - 64x < p + 64 }");
  family.symbols = {{"first", 256}};
  add(5, family);
  launch(a, "reader", 1);
  launch(b, "behind it", 5);
  EXPECT_EQ(check_.races(), 0u);
  launch(a, "other reader", 1, 256);
  CaptureStderr();
  launch(b, "on it", 5);
  const std::string told = GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("race: bytes 256 to 511"));
  EXPECT_THAT(told, Not(HasSubstr("possible")));
}

// What touched() says is what the launch did; the buffer begins at 0x10000.
class TracedRaces : public Races {
 protected:
  static void touched(const std::shared_ptr<TracedBytes>& traced, const TouchedBytes& bytes) {
    ASSERT_NE(traced, nullptr);
    traced->give(bytes);
  }
  static ByteIntervals at(int64_t first, int64_t end) {
    return ByteIntervals({{0x10000 + first, 0x10000 + end}});
  }
  std::string settled() {
    CaptureStderr();
    check_.finished(nullptr);
    return GetCapturedStderr();
  }
};

TEST_F(TracedRaces, WhatMayHappenIsARaceWhereItHappened) {
  touched(launch(a, "maybe", 3), {{}, at(0, 8), {}});
  launch(b, "reader", 1);
  EXPECT_THAT(settled(), HasSubstr("race: bytes 0 to 7"));
  launch(a, "writer", 2, 512);
  touched(launch(b, "gather", 4), {at(520, 900), {}, {}});
  EXPECT_THAT(settled(), HasSubstr("race: bytes 520 to 767"));
}

TEST_F(TracedRaces, WhatDidNotHappenIsNone) {
  touched(launch(a, "maybe", 3), {{}, at(512, 520), {}});
  launch(b, "reader", 1);
  EXPECT_EQ(settled(), "");
}

TEST_F(TracedRaces, WhatNobodyCouldTraceIsNotTold) {
  const auto traced = launch(a, "maybe", 3);
  ASSERT_NE(traced, nullptr);
  traced->give_up();
  launch(b, "reader", 1);
  EXPECT_EQ(settled(), "");
}

TEST_F(TracedRaces, AtomicsAmongEachOtherAreNone) {
  touched(launch(a, "count", 3), {{}, {}, at(0, 4)});
  touched(launch(b, "count too", 3), {{}, {}, at(0, 4)});
  EXPECT_EQ(settled(), "");
  launch(b, "writer", 2);
  EXPECT_THAT(settled(), HasSubstr("race: bytes 0 to 3"));
}

TEST_F(TracedRaces, WhatIsExactIsNotTraced) {
  EXPECT_EQ(launch(a, "reader", 1), nullptr);
  EXPECT_EQ(launch(b, "writer", 2), nullptr);
}

TEST_F(Races, CopiesAreComparedByTheirRange) {
  CaptureStderr();
  launch(a, "writer", 2);
  copy(b, 256, 1023, false);
  EXPECT_EQ(check_.races(), 0u);
  copy(b, 100, 300, false);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("race: bytes 100 to 255"));
}

TEST_F(Races, NoneIsToldWhereAnEventOrders) {
  launch(a, "writer", 2);
  check_.clocks().event_recorded(&check_, a);
  check_.clocks().stream_waits(b, &check_);
  launch(b, "reader", 1);
  EXPECT_EQ(check_.races(), 0u);
}

TEST_F(Races, FreedMemoryIsForgotten) {
  launch(a, "writer", 2);
  check_.buffer_destroyed(7);
  launch(b, "reader", 1);
  EXPECT_EQ(check_.races(), 0u);
}

TEST_F(Races, TheSummaryCountsWhatWasNotChecked) {
  report_.unchecked("graph", "a CUDA graph");
  CaptureStderr();
  report_.finished(nullptr);
  const std::string told = GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("1 launches not checked: a CUDA graph"));
  EXPECT_THAT(told, HasSubstr("0 faults in 1 launches, 0 of them checked whole, and 0 copies"));
}

}  // namespace
}  // namespace sluice::runtime
