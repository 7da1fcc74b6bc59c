#include "table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace sluice::gpu_probe {
namespace {

using Cells = std::array<std::string, 9>;

const Cells titles = {"case", "unit", "median",   "quartiles", "",
                      "min",  "max",  "expected", "verdict"};
// A negative width means that the column is aligned to the left.
constexpr std::array<int, 9> widths = {-52, -9, 10, 10, 10, 10, 10, 17, -11};

// Counts characters, not bytes: "µs" is two characters wide in three bytes.
int width_of(const std::string& text) {
  return static_cast<int>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, int width) {
  const int missing = std::max(0, std::abs(width) - width_of(text));
  const std::string blanks(static_cast<std::size_t>(missing), ' ');
  return width < 0 ? text + blanks : blanks + text;
}

std::string line(const Cells& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += (i == 0 ? "" : " ") + padded(cells[i], widths[i]);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string markdown(const Cells& cells) {
  std::string out = "|";
  for (const std::string& cell : cells) {
    out += ' ';
    for (const char c : cell) {
      out += c == '|' ? "\\|" : std::string(1, c);
    }
    out += " |";
  }
  return out + '\n';
}

Cells cells_of(const Row& row) {
  const Summary& s = row.summary;
  const std::string expected =
      row.expected.known() ? format_value(row.expected.low) + ".." + format_value(row.expected.high)
                           : "-";
  return {row.name,
          row.unit,
          format_value(s.median),
          format_value(s.lower_quartile),
          format_value(s.upper_quartile),
          format_value(s.minimum),
          format_value(s.maximum),
          expected,
          row.verdict()};
}

}  // namespace

std::string format_value(double value) {
  if (value == 0 || !std::isfinite(value)) {
    return value == 0 ? "0" : "-";
  }
  const int whole_digits = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  // Values that are whole numbers (registers, counts) are shown as such.
  const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
  const int decimals = whole ? 0 : std::clamp(4 - whole_digits, 0, 9);
  std::array<char, 400> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string table_header() {
  return line(titles);
}

std::string table_line(const Row& row) {
  return line(cells_of(row));
}

std::string markdown_header() {
  Cells shown = titles;
  shown[3] = "lower quartile";
  shown[4] = "upper quartile";
  return markdown(shown) + "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
}

std::string markdown_line(const Row& row) {
  return markdown(cells_of(row));
}

}  // namespace sluice::gpu_probe
