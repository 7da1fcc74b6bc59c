// sluice check: races between streams are found, and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/check/check.hpp"

namespace sluice::e2e {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string two_streams() {
  return build_path("tests/e2e/two_streams");
}

TEST(Check, FindsTheMissingEventWithBothLaunchSites) {
  const Outcome outcome = check({two_streams(), "none"});
  EXPECT_EQ(outcome.status, 87);
  EXPECT_THAT(outcome.errors, HasSubstr("race: bytes 0 to 16383 of buffer 1 (32768 bytes)"));
  EXPECT_THAT(outcome.errors, Not(HasSubstr("possible race")));
  EXPECT_THAT(outcome.errors,
              ContainsRegex("produce #1 .grid 16x1x1, block 256x1x1. with 0: buffer 1 on stream 1, "
                            "called from main in two_streams, writes through argument 0"));
  EXPECT_THAT(outcome.errors,
              ContainsRegex("consume #2 .*on stream 2, called from main in two_streams, reads "
                            "through argument 0"));
  EXPECT_THAT(outcome.errors, HasSubstr("checked 2 launches and 3 copies: 1 fault"));
}

TEST(Check, FindsNothingWhereTheStreamsAreOrdered) {
  for (const char* how :
       {"event", "stream", "device", "host-event", "query", "callback", "legacy"}) {
    const Outcome outcome = check({two_streams(), how}, {"--error-exitcode", "9"});
    EXPECT_EQ(outcome.status, 0) << how << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("no fault found")) << how;
    EXPECT_THAT(outcome.output, HasSubstr("sum 8192")) << how;
  }
}

TEST(Check, FindsNothingWhereNoBytesAreShared) {
  EXPECT_THAT(check({two_streams(), "apart"}).errors, HasSubstr("no fault found"));
}

TEST(Check, AnEventOfTheWrongStreamOrdersNothing) {
  EXPECT_THAT(check({two_streams(), "early-event"}).errors, HasSubstr("race: bytes 0 to 16383"));
}

TEST(Check, ANonBlockingStreamDoesNotWaitForTheDefaultStream) {
  const std::string errors = check({two_streams(), "unblocked"}).errors;
  EXPECT_THAT(errors, ContainsRegex("produce #1 .* on the default stream"));
}

TEST(Check, CopiesRaceToo) {
  const std::string errors = check({two_streams(), "copy"}).errors;
  EXPECT_THAT(errors, ContainsRegex("cuMemcpy[A-Za-z]*Async.* on stream 2"));
  EXPECT_THAT(errors, HasSubstr("1 fault"));
}

// By its footprint gather() may read all of the buffer.
TEST(Check, WhatIsOnlyPossibleIsToldWhereItHappened) {
  const Outcome found = check({two_streams(), "gather"});
  EXPECT_THAT(found.errors, HasSubstr("race: bytes 0 to 3 of buffer 1"));
  EXPECT_THAT(found.output, HasSubstr("gather: sum"));
  const Outcome none = check({two_streams(), "gather-apart"});
  EXPECT_EQ(none.status, 0) << none.errors;
  EXPECT_THAT(none.errors, HasSubstr("no fault found"));
}

TEST(Check, TheExitStatusIsTheOneAskedForWhereARaceWasFound) {
  EXPECT_EQ(check({two_streams(), "none"}, {"--error-exitcode", "9"}).status, 9);
  EXPECT_EQ(check({two_streams(), "none"}, {"--error-exitcode", "0"}).status, 2);
}

TEST(Check, FindsNothingInAnySample) {
  for (const char* sample : {"attention", "elimination", "gemm_chain", "halo", "heat3d", "nbody",
                             "residual", "stencil", "stencil_driver", "wave"}) {
    std::vector<std::string> command = {build_path(std::string("samples/") + sample)};
    if (std::string(sample).starts_with("stencil") || std::string(sample) == "halo") {
      command.insert(command.end(), {"--size", "64", "--iterations", "8"});
    }
    const Outcome outcome = check(command, {"--error-exitcode", "9"});
    EXPECT_EQ(outcome.status, 0) << sample << ": " << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("no fault found")) << sample;
    EXPECT_THAT(outcome.errors, Not(HasSubstr("not checked"))) << sample;
  }
}

}  // namespace
}  // namespace sluice::e2e
