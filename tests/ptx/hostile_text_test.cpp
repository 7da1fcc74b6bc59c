// Damaged PTX gives a tree or one line of error, never anything worse.
#include <gtest/gtest.h>

#include "corpus.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace sluice::ptx::test {
namespace {

// Whatever parses prints to text that parses to the same tree; whatever does not has one line.
// Returns whether it parsed.
bool check(std::string_view text) {
  auto module = parse(text, "h.ptx");
  if (!module) {
    EXPECT_EQ(module.error().where.rfind("h.ptx:", 0), 0u) << module.error().line();
    EXPECT_EQ(module.error().line().find('\n'), std::string::npos);
    EXPECT_EQ(module.error().what.rfind("expected ", 0), 0u) << module.error().what;
    return false;
  }
  auto again = parse(print(*module), "printed");
  EXPECT_TRUE(again) << again.error().line();
  EXPECT_TRUE(again && *again == *module);
  return true;
}

class Damaged : public testing::TestWithParam<std::string> {};

TEST_P(Damaged, EveryPrefix) {
  std::string text = read_text(corpus_path(GetParam()));
  text.resize(std::min<size_t>(text.size(), 4000));
  int parsed = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    // A copy of its own, so that reading past its end is found by the sanitizer.
    parsed += check(std::string(text.substr(0, size)));
    if (HasFailure()) FAIL() << "prefix of " << size << " bytes";
  }
  EXPECT_GT(parsed, 0);
}

TEST_P(Damaged, EveryByteChanged) {
  std::string text = read_text(corpus_path(GetParam()));
  text.resize(std::min<size_t>(text.size(), 2500));
  for (size_t at = 0; at < text.size(); ++at) {
    for (char change : {'\x01', '\x10', '\x80'}) {
      std::string damaged = text;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      check(damaged);
      if (HasFailure()) FAIL() << "byte " << at << " changed by " << int{change};
    }
  }
}

TEST_P(Damaged, EveryLineLeftOut) {
  std::string text = read_text(corpus_path(GetParam()));
  for (size_t begin = 0; begin < text.size() && begin < 20000;) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    check(text.substr(0, begin) + text.substr(end));
    if (HasFailure()) FAIL() << "line at byte " << begin << " left out";
    begin = end;
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Damaged,
                         testing::Values("old_style", "constant_memory", "device_calls_lineinfo"),
                         [](const auto& info) { return info.param; });

std::string repeat(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

TEST(Nested, DeepTextIsAnError) {
  const std::string header = ".version 7.0 .target sm_75 ";
  const size_t deep = 200000;
  EXPECT_FALSE(check(header + ".entry k " + repeat("{", deep)));
  EXPECT_FALSE(check(header + ".entry k { mov.u32 a, " + repeat("(", deep)));
  EXPECT_FALSE(check(header + ".entry k { mov.u32 a, " + repeat("-", deep)));
  EXPECT_FALSE(check(header + ".entry k { mov.u32 a, " + repeat("1?", deep)));
  EXPECT_FALSE(check(header + ".entry k { mov.u32 a, " + repeat("{", deep)));
  EXPECT_FALSE(check(header + ".entry k { tex.2d a, " + repeat("[{", deep)));
  EXPECT_FALSE(check(header + ".entry k { call " + repeat("(", deep)));
  EXPECT_FALSE(check(header + ".global .u32 a" + repeat("[1]", deep) + ";"));
  EXPECT_FALSE(check(header + ".global .u32 a[1] = " + repeat("{", deep)));
}

TEST(Nested, OrdinaryDepthIsNone) {
  const std::string header = ".version 7.0 .target sm_75 ";
  EXPECT_TRUE(check(header + ".entry k " + repeat("{", 100) + repeat("}", 100)));
  EXPECT_TRUE(
      check(header + ".entry k { mov.u32 a, " + repeat("(", 20) + "1" + repeat(")", 20) + "; }"));
}

TEST(Nested, FewBytesMakeNoGigabytes) {
  const std::string header = ".version 7.0 .target sm_75 .global .u8 a";
  EXPECT_FALSE(check(header + "[4][1000000000] = {{1}, {2}};"));
  EXPECT_FALSE(check(header + "[4294967296][4294967296] = {{1}};"));
  EXPECT_FALSE(check(header + "[9223372036854775807][3][3] = {" + repeat("{},", 200000) + "1};"));
  EXPECT_TRUE(check(header + "[9223372036854775807][4][4] = {{{1}}};"));
}

}  // namespace
}  // namespace sluice::ptx::test
