// Return addresses are the stack's, remembered or unwound.
#include "base/thread/return_addresses.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <vector>

#include <alloca.h>
#include <execinfo.h>
#include <gtest/gtest.h>

namespace {

// What glibc says of the same place, and what we say: equal behind the call itself.
struct Told {
  Told(std::span<void*> found, std::span<void*> known)
      : ours(found.begin(), found.end()), glibc(known.begin(), known.end()) {
    EXPECT_GT(ours.size(), 1U);
  }
  std::vector<void*> ours, glibc;
};

[[gnu::noinline]] Told told() {
  std::array<void*, 24> ours{}, glibc{};
  const std::span<void*> found = std::span(ours).first(sluice::return_addresses(ours));
  const std::span<void*> known =
      std::span(glibc).first(static_cast<size_t>(backtrace(glibc.data(), int{glibc.size()})));
  EXPECT_GT(found.size(), 1U);
  const std::span<void*> callers = found.subspan(1);
  // A sanitizer that stands in for glibc's function has frames of its own before these.
  const auto same = std::ranges::find(known, callers.front());
  const std::span<void*> like(same, known.end());
  const size_t common = std::min(callers.size(), like.size());
  return {callers.first(common), like.first(common)};
}

[[gnu::noinline]] Told from_one_line() {
  return told();
}
[[gnu::noinline]] Told from_another_line() {
  return told();
}
[[gnu::noinline]] Told behind(size_t calls) {
  return calls == 0 ? told() : behind(calls - 1);
}
// The frame's size differs from call to call.
[[gnu::noinline]] Told below(size_t bytes) {
  auto* const room = static_cast<volatile char*>(alloca(bytes + 1));
  room[0] = 1;
  return from_one_line();
}

TEST(ReturnAddresses, AreWhatGlibcFinds) {
  for (int time = 0; time < 3; ++time) {
    for (Told (*const call)() : {from_one_line, from_another_line}) {
      const Told found = call();
      EXPECT_EQ(found.ours, found.glibc);
    }
  }
}

TEST(ReturnAddresses, DifferWhereAnOuterCallDoes) {
  std::vector<void*> last;
  const auto expect_new = [&](const Told& found) {
    EXPECT_EQ(found.ours, found.glibc);
    EXPECT_NE(found.ours, last);
    last = found.ours;
  };
  for (int time = 0; time < 3; ++time) {
    expect_new(from_one_line());
    expect_new(from_one_line());
  }
}

TEST(ReturnAddresses, AreThoseOfManyStacksInTurn) {
  for (int time = 0; time < 3; ++time) {
    for (size_t depth = 0; depth < 40; ++depth) {
      const Told deep = behind(depth), wide = below(16 * depth);
      EXPECT_EQ(deep.ours, deep.glibc);
      EXPECT_EQ(wide.ours, wide.glibc);
    }
  }
}

TEST(ReturnAddresses, AreEachThreadsOwn) {
  const Told here = from_one_line();
  std::thread([&] {
    for (int time = 0; time < 2; ++time) {
      const Told found = from_one_line();
      EXPECT_EQ(found.ours, found.glibc);
      EXPECT_NE(found.ours, here.ours);
    }
  }).join();
}

TEST(ReturnAddresses, FillNoMoreThanThereIsRoom) {
  std::array<void*, 4> found{};
  EXPECT_EQ(sluice::return_addresses(std::span(found).first(2)), 2U);
  EXPECT_NE(found[1], nullptr);
  EXPECT_EQ(found[2], nullptr);
  EXPECT_EQ(sluice::return_addresses({}), 0U);
}

}  // namespace
