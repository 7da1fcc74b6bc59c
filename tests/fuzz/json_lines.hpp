// Mutating files of sealed lines of JSON: as lines and values, not as bytes, and with seals that
// are right.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "dro/journal/journal_format.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace sluice::fuzz {

using Lines = std::vector<std::string>;

inline Lines lines_of(std::string_view text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// without_seal() takes a line's seal away, right or wrong.
inline std::string without_seal(const std::string& line) {
  constexpr std::string_view member = ",\"seal\":\"";
  constexpr size_t tail = member.size() + 10;
  if (line.size() < tail || line.compare(line.size() - tail, member.size(), member) != 0)
    return line;
  return line.substr(0, line.size() - tail) + "}";
}

// sealed() is the text with right seals on all lines that can have one.
inline std::string sealed(std::string_view text) {
  std::string all;
  for (const std::string& line : lines_of(text)) {
    const std::string plain = without_seal(line);
    if (!plain.empty()) all += dro::sealed(plain) + "\n";
  }
  return all;
}

// LineMutator changes one thing of lines.
class LineMutator {
 public:
  explicit LineMutator(unsigned seed) : random_(seed) {}

  void change(Lines& lines) {
    if (lines.empty()) return;
    const size_t place = below(lines.size());
    switch (below(8)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(place));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(lines.size())),
                     std::string(lines[place]));
        break;
      case 2:
        std::swap(lines[place], lines[below(lines.size())]);
        break;
      case 3:
        change_bytes(lines[place]);
        break;
      case 4:
        take_value(lines[place], lines[below(lines.size())]);
        break;
      default:
        change_number(lines[place]);
        break;
    }
  }

 private:
  struct Part {
    size_t begin = 0, end = 0;
  };
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  static std::vector<Part> numbers_of(const std::string& line) {
    std::vector<Part> parts;
    for (size_t i = 0; i < line.size(); ++i) {
      const size_t begin = i;
      while (i < line.size() &&
             (std::isdigit(static_cast<unsigned char>(line[i])) || line[i] == '-'))
        ++i;
      if (i > begin) parts.push_back({begin, i});
    }
    return parts;
  }

  void change_number(std::string& line) {
    const std::vector<Part> numbers = numbers_of(line);
    if (numbers.empty()) return change_bytes(line);
    const Part part = numbers[below(numbers.size())];
    static constexpr std::array special = {"0",
                                           "1",
                                           "-1",
                                           "2",
                                           "7",
                                           "64",
                                           "4096",
                                           "65535",
                                           "2147483647",
                                           "4294967295",
                                           "4294967296",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551615"};
    const std::string before = line.substr(part.begin, part.end - part.begin);
    std::string after = special[below(special.size())];
    if (below(2) == 0) {
      const uint64_t near = std::strtoull(before.c_str(), nullptr, 10);
      const std::array nearby = {near + 1, near - 1, near * 2, near / 2, near * 1024};
      after = std::to_string(nearby[below(nearby.size())]);
    }
    line.replace(part.begin, part.end - part.begin, after);
  }

  // take_value() puts an array or object of another line into the place of one of this.
  void take_value(std::string& line, const std::string& other) {
    const Part from = value_of(other), to = value_of(line);
    if (from.end == 0 || to.end == 0) return change_number(line);
    line.replace(to.begin, to.end - to.begin, other.substr(from.begin, from.end - from.begin));
  }
  Part value_of(const std::string& line) {
    std::vector<size_t> begins;
    for (size_t i = 1; i < line.size(); ++i) {
      if (line[i] == '[' || line[i] == '{') begins.push_back(i);
    }
    if (begins.empty()) return {};
    const size_t begin = begins[below(begins.size())];
    int depth = 0;
    for (size_t i = begin; i < line.size(); ++i) {
      depth += line[i] == '[' || line[i] == '{' ? 1 : line[i] == ']' || line[i] == '}' ? -1 : 0;
      if (depth == 0) return {begin, i + 1};
    }
    return {};
  }

  static void change_bytes(std::string& line) {
    const size_t size = line.size();
    line.resize(size + 64);
    line.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(line.data()), size, line.size()));
    std::erase(line, '\n');
  }

  std::minstd_rand random_;
};

// mutate_lines() is a custom mutator's work.
inline size_t mutate_lines(uint8_t* data, size_t size, size_t most, unsigned seed) {
  Lines lines = lines_of({reinterpret_cast<const char*>(data), size});
  for (std::string& line : lines)
    line = without_seal(line);
  LineMutator mutator(seed);
  for (unsigned changes = 1 + seed % 3; changes > 0; --changes)
    mutator.change(lines);
  std::string text;
  for (const std::string& line : lines)
    text += line + "\n";
  if (text.empty() || text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

}  // namespace sluice::fuzz
