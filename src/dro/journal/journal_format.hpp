// The text of the journal's records: one function for each, used by the writer and, to compare
// byte for byte, by the replay. docs/journal.md describes the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/footprint.hpp"
#include "dro/journal/journal.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

constexpr int journal_version = 4;

// LaunchRecord is one launch: tracked where it has a footprint, else opaque to the tracker.
struct LaunchRecord {
  LaunchNumber number = 0;
  LaunchDetails details;  // passed_through holds the reason for an opaque launch too
  std::optional<FootprintId> footprint;
  InternedId interned = 0;
  std::vector<BoundArgument> arguments;
  std::vector<std::pair<LaunchNumber, DroId>> dependences;  // (master, dro)
};

struct JournalHeader {
  Rule rule = Rule::exact;
  std::string program;
};

// Each returns one JSON object without its seal and without a newline.
std::string header_text(const JournalHeader& header);
std::string buffer_text(BufferId buffer, uint64_t bytes);
std::string free_text(BufferId buffer);
std::string footprint_text(FootprintId id, const analysis::Footprint& footprint);
std::string edge_table_text(EdgeTableId id, const EdgeTable& table);
std::string dro_text(const Dro& dro);
std::string launch_text(const LaunchRecord& launch);
std::string host_write_text(BufferId buffer, uint64_t begin, uint64_t end);
std::string warning_text(const std::string& text);

// sealed() adds the seal as the last member: the CRC-32C of the text up to the member's comma, as
// eight hexadecimal digits. Each line is sealed alone, so all whole lines of a journal that a
// crash cut short stay readable. append_sealed() appends the same to other lines.
std::string sealed(std::string_view text);
void append_sealed(std::string& lines, std::string_view text);

// unsealed() is the text that sealed() was given; nothing where the seal is missing or wrong.
std::optional<std::string> unsealed(std::string_view line);

const char* rule_name(Rule rule);
const char* form_name(EdgeForm form);

}  // namespace sluice::dro
