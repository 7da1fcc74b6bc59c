// The text of the journal's records, used by the writer and, to compare byte for byte, by the
// replay. What each record holds is declared beside its type (dro/records). docs/journal.md
// describes the format.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "dro/records/record.hpp"
#include "dro/rule.hpp"

namespace sluice::dro {

constexpr int journal_version = 7;

template <>
inline constexpr std::array names<Rule> = {"exact", "buffer"};

// JournalHeader is the journal's first line.
struct JournalHeader {
  Rule rule = Rule::exact;
  std::string program;
  std::string journal = "sluice";
  int version = journal_version;
};

template <>
inline constexpr auto members<JournalHeader> = [](auto& header, auto& member) {
  member("journal", header.journal);
  member("version", header.version);
  member("rule", header.rule);
  member("program", header.program);
};

// text_of() is one JSON object without its seal and without a newline. Bytes that are no UTF-8 are
// replaced.
std::string text_of(const Record& record);
std::string text_of(const JournalHeader& header);

// sealed() adds the seal as the last member: the CRC-32C of the text up to the member's comma, as
// eight hexadecimal digits. Each line is sealed alone, so all whole lines of a journal that a
// crash cut short stay readable. append_sealed() appends the same to other lines.
std::string sealed(std::string_view text);
void append_sealed(std::string& lines, std::string_view text);

// unsealed() is the text that sealed() was given; nothing where the seal is missing or wrong.
std::optional<std::string> unsealed(std::string_view line);

}  // namespace sluice::dro
