#include "base/result.hpp"

#include <gtest/gtest.h>

#include "base/assert.hpp"

namespace sluice {
namespace {

TEST(Error, LineHoldsWhereWhatAndRemedy) {
  const Error full{ErrorKind::invalid_input, "expected ';'", "k.ptx:3:9", "check the file"};
  EXPECT_EQ(full.line(), "k.ptx:3:9: expected ';'; check the file");
  const Error bare{ErrorKind::system, "out of disk", {}, {}};
  EXPECT_EQ(bare.line(), "out of disk");
}

TEST(Result, CarriesAnErrorOrAValue) {
  const Result<int> good = 7;
  const Result<int> bad = unsupported("no", "there");
  EXPECT_EQ(good.value(), 7);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().kind, ErrorKind::unsupported);
}

TEST(AssertDeathTest, NamesTheConditionAndEndsATool) {
  EXPECT_DEATH(SLUICE_ASSERT(1 + 1 == 3), "assertion '1 \\+ 1 == 3' failed");
}

TEST(Assert, HandlerMayThrow) {
  const AssertionHandler before =
      set_assertion_handler([](const char* condition, const char* file, int line) {
        throw AssertionFailure{condition, file, line};
      });
  EXPECT_THROW(SLUICE_ASSERT(false), AssertionFailure);
  set_assertion_handler(before);
}

}  // namespace
}  // namespace sluice
