// JSON as text is what nlohmann's library makes of the same values.
#include "base/json_text.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

TEST(JsonText, StringsAreEscapedAndMadeUtf8) {
  for (const std::string text : {"", "kernel", "\"\\/\b\f\n\r\t", "\x01\x1f\x7f",
                                 "gr\xc3\xb6\xc3\x9f"
                                 "e",
                                 "cut \xc3", "\xff\xfe", "</script>"})
    EXPECT_EQ(JsonText(text).text(), dumped(text)) << text;
  const std::string with_zero("a\0b", 3);
  EXPECT_EQ(JsonText(with_zero).text(), dumped(with_zero));
}

TEST(JsonText, NumbersKeepAllTheirDigits) {
  for (const double number : {0.0, -0.0, 1.0, 0.1, 1e300, 123456.789, 1.0 / 3, 5e-324})
    EXPECT_EQ(JsonText(number).text(), dumped(number)) << number;
  EXPECT_EQ(JsonText(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(JsonText(UINT64_MAX).text(), dumped(UINT64_MAX));
  EXPECT_EQ(JsonText(INT64_MIN).text(), dumped(INT64_MIN));
  EXPECT_EQ(JsonText(uint8_t{7}).text(), "7");
}

TEST(JsonText, ValuesOfOtherTypes) {
  EXPECT_EQ(JsonText(nullptr).text(), "null");
  EXPECT_EQ(JsonText(true).text(), "true");
  EXPECT_EQ(JsonText(false).text(), "false");
  EXPECT_EQ(JsonText("text").text(), "\"text\"");
  using Pairs = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(JsonText(Pairs{{1, 2}, {3, 4}}).text(), "[[1,2],[3,4]]");
  EXPECT_EQ(JsonText(Pairs()).text(), "[]");
  EXPECT_EQ(JsonText(std::map<std::string, uint64_t>{{"b", 2}, {"a", 1}}).text(),
            R"({"a":1,"b":2})");
  EXPECT_EQ(JsonText(std::map<std::string, uint64_t>()).text(), "{}");
}

TEST(JsonText, ObjectsAndArraysGrowAtTheirEnd) {
  JsonText object =
      JsonText::object({{"first", 1}, {"inner", JsonText::object({{"\n", nullptr}})}});
  object.add("list", JsonText::array({1, "two", JsonText::array({})}));
  object.add_members(JsonText::object({}));
  object.add_members(JsonText::object({{"more", true}, {"last", 0.5}}));
  EXPECT_EQ(object.text(),
            R"({"first":1,"inner":{"\n":null},"list":[1,"two",[]],"more":true,"last":0.5})");
  JsonText empty = JsonText::object({});
  empty.add_members(JsonText::of_text(R"({"a":1})"));
  EXPECT_EQ(empty.text(), R"({"a":1})");
}

TEST(JsonText, WhatIsNoJsonIsDiscarded) {
  EXPECT_TRUE(parsed_json("{\"cut\":").is_discarded());
  EXPECT_TRUE(parsed_json("").is_discarded());
  EXPECT_EQ(json_text_of(parsed_json(R"({ "b" : [1, 2.5], "a" : "x" })")),
            R"({"a":"x","b":[1,2.5]})");
  EXPECT_EQ(json_text_of(parsed_json(R"({"a":1})"), 2), "{\n  \"a\": 1\n}");
}

}  // namespace
}  // namespace sluice
