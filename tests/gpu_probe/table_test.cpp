#include "report/table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::gpu_probe {
namespace {

Row example() {
  Row row;
  row.name = "empty, stream";
  row.unit = "us/step";
  row.summary = summarize({2.0, 2.5, 3.0});
  row.expected = {1.5, 5};
  return row;
}

TEST(Table, ValuesHaveFourDigitsAndNoExponent) {
  EXPECT_EQ(format_value(0), "0");
  EXPECT_EQ(format_value(0.42134), "0.4213");
  EXPECT_EQ(format_value(12.304), "12.30");
  EXPECT_EQ(format_value(482101.7), "482102");
  EXPECT_EQ(format_value(0.00001234567), "0.00001235");
  EXPECT_EQ(format_value(-3.14159), "-3.142");
  EXPECT_EQ(format_value(std::numeric_limits<double>::quiet_NaN()), "-");
}

TEST(Table, WholeNumbersStayWhole) {
  EXPECT_EQ(format_value(48), "48");
  EXPECT_EQ(format_value(100000000), "100000000");
}

TEST(Table, ColumnsLineUpWithTheHeader) {
  const std::string header = table_header();
  const std::string line = table_line(example());
  for (const auto& [title, value] : {std::pair("median", "2.500"), std::pair("min", " 2"),
                                     std::pair("max", " 3"), std::pair("expected", "1.500..5")}) {
    const std::size_t title_end = header.find(title) + std::string(title).size();
    const std::string text = value;
    EXPECT_EQ(line.substr(title_end - text.size(), text.size()), text) << title;
  }
  EXPECT_EQ(header.find("verdict"), line.find("as expected"));
  EXPECT_EQ(line.back(), '\n');
}

TEST(Table, WidthCountsCharactersNotBytes) {
  Row row = example();
  const std::size_t place = table_line(row).find("2.500");
  row.unit = "\xC2\xB5s/step";
  // One byte more, the same column on the screen.
  EXPECT_EQ(table_line(row).find("2.500"), place + 1);
}

TEST(Table, ALongNameIsNotCutOff) {
  Row row = example();
  row.name = std::string(80, 'n');
  const std::string line = table_line(row);
  EXPECT_EQ(line.find(row.name + " us/step"), 0u);
}

TEST(Table, MarkdownEscapesBars) {
  Row row = example();
  row.name = "a|b";
  EXPECT_EQ(markdown_line(row),
            "| a\\|b | us/step | 2.500 | 2.250 | 2.750 | 2 | 3 | 1.500..5 | as expected |\n");
}

TEST(Table, MarkdownHeaderHasAsManyColumnsAsALine) {
  const auto bars = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '|');
  };
  const std::string header = markdown_header();
  const std::size_t end = header.find('\n') + 1;
  EXPECT_EQ(bars(header.substr(0, end)), bars(markdown_line(example())));
  EXPECT_EQ(bars(header.substr(end)), bars(markdown_line(example())));
}

}  // namespace
}  // namespace sluice::gpu_probe
