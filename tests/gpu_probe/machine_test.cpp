#include "report/machine.hpp"

#include <regex>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

TEST(Machine, FirstLineOfACommand) {
  EXPECT_EQ(output_line("printf '  one \\ntwo\\n'"), "one");
  EXPECT_EQ(output_line("printf ''"), "");
}

TEST(Machine, ACommandThatFailsOrIsMissingGivesNothing) {
  EXPECT_EQ(output_line("echo text; false"), "");
  EXPECT_EQ(output_line("/no/such/program"), "");
}

TEST(Machine, SmiLineBecomesFacts) {
  EXPECT_EQ(split_smi({"driver", "SM clock", "power"}, "580.65, 1980 MHz, 700.00 W"),
            (Facts{{"driver", "580.65"}, {"SM clock", "1980 MHz"}, {"power", "700.00 W"}}));
}

TEST(Machine, WhatSmiDoesNotSayIsUnknown) {
  EXPECT_EQ(split_smi({"a", "b", "c"}, "1, , "),
            (Facts{{"a", "1"}, {"b", "unknown"}, {"c", "unknown"}}));
  EXPECT_EQ(split_smi({"a", "b"}, ""), (Facts{{"a", "unknown"}, {"b", "unknown"}}));
}

TEST(Machine, AFolderThatIsNoRepositoryHasNoCommit) {
  EXPECT_EQ(source_commit("/no/such/folder"), "unknown");
  EXPECT_EQ(source_commit("it's; echo x"), "unknown");
}

TEST(Machine, TodayIsADate) {
  EXPECT_TRUE(std::regex_match(today(), std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")));
}

}  // namespace
}  // namespace sluice::gpu_probe
