// The marks that a report's texts have for the lines of calls.
#include "runtime/calls/call_place.hpp"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

const CallPlaces call{"_Z4fillPfi", {{"/opt/a b:c", 0x1234}, {"/opt/lib.so", 0}}};

TEST(CallPlaces, ComeBackOutOfAText) {
  const std::string text = "called from main" + mark_of(call) + ", after run" + mark_of({}) + ".";
  std::vector<CallPlaces> found;
  const std::string with = replace_marks(text, [&](const CallPlaces& places) {
    found.push_back(places);
    return " [" + std::to_string(found.size()) + "]";
  });
  EXPECT_EQ(with, "called from main [1], after run [2].");
  EXPECT_EQ(found, (std::vector<CallPlaces>{call, {}}));
  EXPECT_EQ(without_marks(text), "called from main, after run.");
}

TEST(CallPlaces, ATextThatIsCutShortStaysAsItIs) {
  const std::string cut = "main" + mark_of(call).substr(0, 9);
  EXPECT_EQ(without_marks(cut), cut);
}

}  // namespace
}  // namespace sluice::runtime
