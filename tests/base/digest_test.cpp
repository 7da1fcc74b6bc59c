#include "base/digest.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

// XXH3's own value for no input, as its specification gives it.
TEST(Digest, IsXxh3InHexadecimal) {
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, TellsTextsApart) {
  const std::string text(1000, 'a');
  std::string other = text;
  other[999] = 'b';
  EXPECT_NE(digest(text), digest(other));
  EXPECT_EQ(digest(text), digest(std::string(text)));
}

}  // namespace
}  // namespace sluice
