// The rules by which CUDA orders streams, events and the host.
#include "runtime/races/stream_clocks.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

void* handle(uintptr_t value) {
  return reinterpret_cast<void*>(value * 0x1000);
}
const StreamKey a{nullptr, handle(1)};
const StreamKey b{nullptr, handle(2)};
const StreamKey c{nullptr, handle(3)};
void* const event = handle(9);
const StreamKey legacy;
const StreamKey per_thread{nullptr, StreamKey::per_thread};

// orders() is true where an action of `later` comes after one of `earlier` that was issued before
// `between` did what it does.
template <class Between>
bool orders(StreamClocks& clocks, const StreamKey& earlier, const StreamKey& later,
            const Between& between) {
  const ActionTime first = clocks.act(earlier);
  between();
  clocks.act(later);
  return clocks.is_ordered(first);
}

TEST(StreamClocks, AStreamOrdersItselfAndTheHostsProgramOrderNothing) {
  StreamClocks clocks;
  EXPECT_TRUE(orders(clocks, a, a, [] {}));
  EXPECT_FALSE(orders(clocks, a, b, [] {}));
}

TEST(StreamClocks, AnEventCarriesWhatCameBeforeItsRecordAndNoMore) {
  StreamClocks clocks;
  EXPECT_TRUE(orders(clocks, a, b, [&] {
    clocks.event_recorded(event, a);
    clocks.stream_waits(b, event);
  }));
  clocks.event_recorded(event, a);
  EXPECT_FALSE(orders(clocks, a, b, [&] { clocks.stream_waits(b, event); }));
}

TEST(StreamClocks, ADefaultStreamIsOrderedWithStreamsOfItsContextAlone) {
  int other = 0;
  const StreamKey other_legacy{&other, nullptr};
  const StreamKey other_a{&other, handle(4)};
  StreamClocks clocks;
  EXPECT_EQ(clocks.number_of(legacy), 0U);
  EXPECT_EQ(clocks.number_of(other_legacy), 1U);
  EXPECT_FALSE(orders(clocks, legacy, other_legacy, [] {}));
  EXPECT_FALSE(orders(clocks, a, other_legacy, [] {}));
  EXPECT_FALSE(orders(clocks, other_legacy, a, [] {}));
  EXPECT_TRUE(orders(clocks, other_a, other_legacy, [] {}));
  EXPECT_TRUE(orders(clocks, other_legacy, other_a, [] {}));
  EXPECT_FALSE(orders(clocks, {&other, StreamKey::per_thread}, legacy, [] {}));
  EXPECT_TRUE(orders(clocks, per_thread, legacy, [] {}));
}

TEST(StreamClocks, WaitingIsTransitive) {
  StreamClocks clocks;
  EXPECT_TRUE(orders(clocks, a, c, [&] {
    clocks.event_recorded(event, a);
    clocks.stream_waits(b, event);
    clocks.event_recorded(event, b);
    clocks.stream_waits(c, event);
  }));
}

TEST(StreamClocks, AnEventThatWasNeverRecordedOrDestroyedOrdersNothing) {
  StreamClocks clocks;
  EXPECT_FALSE(orders(clocks, a, b, [&] { clocks.stream_waits(b, event); }));
  EXPECT_FALSE(orders(clocks, a, b, [&] {
    clocks.event_recorded(event, a);
    clocks.event_destroyed(event);
    clocks.stream_waits(b, event);
  }));
}

TEST(StreamClocks, WhatTheHostHasSeenDoneComesBeforeAllThatItIssuesLater) {
  StreamClocks clocks;
  EXPECT_TRUE(orders(clocks, a, b, [&] { clocks.stream_done(a); }));
  EXPECT_FALSE(orders(clocks, a, b, [&] { clocks.stream_done(c); }));
  EXPECT_TRUE(orders(clocks, a, b, [&] { clocks.device_done(); }));
  EXPECT_TRUE(orders(clocks, a, b, [&] {
    clocks.event_recorded(event, a);
    clocks.event_done(event);
  }));
  EXPECT_FALSE(orders(clocks, a, b, [&] { clocks.event_done(event); }));
  VectorClock moment;
  EXPECT_FALSE(orders(clocks, a, b, [&] { moment = clocks.moment_of(a); }));
  EXPECT_TRUE(orders(clocks, a, b, [&] {
    moment = clocks.moment_of(a);
    clocks.moment_done(moment);
  }));
}

TEST(StreamClocks, TheLegacyDefaultStreamOrdersBlockingStreamsOnly) {
  StreamClocks clocks;
  clocks.created(c, true);
  EXPECT_TRUE(orders(clocks, a, legacy, [] {}));
  EXPECT_TRUE(orders(clocks, legacy, a, [] {}));
  EXPECT_TRUE(orders(clocks, a, b, [&] { clocks.act(legacy); }));
  EXPECT_FALSE(orders(clocks, c, legacy, [] {}));
  EXPECT_FALSE(orders(clocks, legacy, c, [] {}));
}

TEST(StreamClocks, EachThreadHasADefaultStreamOfItsOwn) {
  StreamClocks clocks;
  const ActionTime first = clocks.act(per_thread);
  std::thread([&] { clocks.act(per_thread); }).join();
  EXPECT_FALSE(clocks.is_ordered(first));
  clocks.act(per_thread);
  EXPECT_TRUE(clocks.is_ordered(first));
}

TEST(StreamClocks, AHandleThatIsUsedAgainIsANewStream) {
  StreamClocks clocks;
  EXPECT_FALSE(orders(clocks, a, a, [&] {
    clocks.destroyed(a);
    clocks.created(a, false);
  }));
  // The work of a stream that was destroyed is still waited for.
  EXPECT_TRUE(orders(clocks, b, legacy, [&] { clocks.destroyed(b); }));
}

}  // namespace
}  // namespace sluice::runtime
