#include "report/json_text.hpp"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::gpu_probe {
namespace {

TEST(JsonText, TextSurvivesAParser) {
  const std::string text = "a \"quoted\" back\\slash,\n\ttab, \x01 and \xC2\xB5s";
  EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
}

TEST(JsonText, EveryControlCharacterIsEscaped) {
  for (char c = 0; c < 0x20; ++c) {
    const std::string text(1, c);
    EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
  }
}

TEST(JsonText, NumbersSurviveAParser) {
  for (const double value : {0.0, -1.5, 1e-9, 48210.0, 3.141592654, 1e12}) {
    EXPECT_DOUBLE_EQ(nlohmann::json::parse(json_number(value)).get<double>(), value);
  }
}

TEST(JsonText, WhatIsNotFiniteIsNull) {
  EXPECT_EQ(json_number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(json_number(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonText, ObjectsAndArraysNestInOrder) {
  const std::string inner = JsonObject().text("name", "x").number("value", 2).str();
  const std::string text =
      JsonObject().json("b", json_array({inner, "null"})).json("a", json_array({})).str();
  EXPECT_EQ(text, R"({"b":[{"name":"x","value":2},null],"a":[]})");
  EXPECT_EQ(JsonObject().str(), "{}");
}

}  // namespace
}  // namespace sluice::gpu_probe
