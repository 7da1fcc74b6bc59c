// Each kind of reason that the analysis gives has its advice.
#include "tools/explain/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::tools {
namespace {

TEST(Advice, EveryKindButTheUnknownHasSome) {
  for (int kind = 0; kind < int(Widening::unknown); ++kind) {
    EXPECT_FALSE(advice_for(Widening(kind), false).empty()) << kind;
  }
  EXPECT_EQ(widening_of("the weather"), Widening::unknown);
  EXPECT_TRUE(advice_for(Widening::unknown, false).empty());
}

TEST(Advice, OfAGuardDiffersForReadsAndWrites) {
  EXPECT_NE(advice_for(Widening::data_guard, true), advice_for(Widening::data_guard, false));
}

}  // namespace
}  // namespace sluice::tools
