// Each kind of reason that the analysis gives has its words and its advice.
#include "tools/explain/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/records/widening.hpp"

namespace sluice::tools {
namespace {

using analysis::Widening;

TEST(Advice, EveryKindHasAName) {
  ASSERT_EQ(dro::names<Widening>.size(), size_t(Widening::lost) + 1);
  EXPECT_STREQ(dro::names<Widening>[size_t(Widening::data_guard)], "data_guard");
  EXPECT_STREQ(dro::names<Widening>[size_t(Widening::lost)], "lost");
}

TEST(Advice, EveryKindOfAnAccessHasWordsAndAdvice) {
  for (int kind = 1; kind <= int(Widening::data_guard); ++kind) {
    EXPECT_THAT(dro::sentence_of({Widening(kind), 7}), ::testing::HasSubstr("at PTX line 7"));
    EXPECT_FALSE(advice_for({Widening(kind)}, false).empty()) << kind;
  }
  EXPECT_TRUE(dro::sentence_of({}).empty());
  EXPECT_TRUE(advice_for({}, false).empty());
}

TEST(Advice, EveryKindOfAnOpaqueKernelHasWords) {
  for (int kind = int(Widening::loaded_pointer); kind <= int(Widening::lost); ++kind)
    EXPECT_FALSE(dro::sentence_of({Widening(kind)}).empty()) << kind;
}

TEST(Advice, WordsNameTheValueToBlame) {
  EXPECT_EQ(dro::sentence_of({Widening::loaded_value, 7, 5}),
            "the address at PTX line 7 depends on a value loaded from memory at PTX line 5");
  EXPECT_EQ(dro::sentence_of({Widening::exchanged_value, 7, 5, true}),
            "the address at PTX line 7 moves in a loop whose bounds depend on a value not known "
            "before the kernel runs at PTX line 5");
  EXPECT_EQ(dro::sentence_of({Widening::pointer_value, 7, 0, false, "p"}),
            "the address at PTX line 7 depends on the value of the pointer p");
}

TEST(Advice, OfAGuardDiffersForReadsAndWrites) {
  EXPECT_NE(advice_for({Widening::data_guard}, true), advice_for({Widening::data_guard}, false));
}

TEST(Advice, OfALoopIsAboutItsBounds) {
  EXPECT_THAT(advice_for({Widening::loaded_value, 7, 5, true}, false),
              ::testing::StartsWith("The loop's bounds are data."));
}

}  // namespace
}  // namespace sluice::tools
