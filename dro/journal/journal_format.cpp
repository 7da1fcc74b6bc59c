#include "dro/journal/journal_format.hpp"

#include <concepts>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "dro/journal/checksum.hpp"

namespace sluice::dro {
namespace {

// Text appends JSON. Written out rather than built as a document first: an edge table may have
// millions of ranges.
struct Text {
  std::string& out;

  void open(char bracket) { out += bracket; }
  void close(char bracket) { out += bracket; }
  void name(const char* name) {
    if (out.back() != '{') out += ',';
    out += '"';
    out += name;
    out += "\":";
  }
  void next() {
    if (out.back() != '[') out += ',';
  }
  template <class T>
  void leaf(const T& value) {
    if constexpr (std::same_as<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      const fmt::format_int digits(value);
      out.append(digits.data(), digits.size());
    } else if constexpr (std::is_enum_v<T>) {
      leaf(std::string(names<T>.at(static_cast<size_t>(value))));
    } else if constexpr (std::same_as<T, Hazards>) {
      leaf(hazard_names(value));
    } else {
      out += JsonText(value).text();
    }
  }
};

// append_digits() appends a checksum as eight hexadecimal digits.
void append_digits(std::string& text, uint32_t checksum) {
  for (int shift = 28; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[checksum >> static_cast<unsigned>(shift) & 15U];
}

constexpr std::string_view seal_member = ",\"seal\":\"";
constexpr size_t seal_digits = 8;

}  // namespace

std::string text_of(const Record& record) {
  std::string line = "{";
  Text text{line};
  DeclaredWriter writer(text);
  writer.alternative("record", record);
  writer.of_alternative(record);
  return line + "}";
}

std::string text_of(const JournalHeader& header) {
  std::string line;
  Text text{line};
  DeclaredWriter(text).put(header);
  return line;
}

void append_sealed(std::string& lines, std::string_view text) {
  text.remove_suffix(1);  // the closing brace
  lines += text;
  lines += seal_member;
  append_digits(lines, crc32c(text));
  lines += "\"}";
}

std::string sealed(std::string_view text) {
  std::string line;
  append_sealed(line, text);
  return line;
}

std::optional<std::string> unsealed(std::string_view line) {
  const size_t tail = seal_member.size() + seal_digits + 2;
  if (line.size() < tail) return std::nullopt;
  const std::string_view text = line.substr(0, line.size() - tail);
  const std::string_view seal = line.substr(line.size() - tail);
  std::string expected(seal_member);
  append_digits(expected, crc32c(text));
  if (seal != expected + "\"}") return std::nullopt;
  std::string whole(text);
  whole += '}';
  return whole;
}

}  // namespace sluice::dro
