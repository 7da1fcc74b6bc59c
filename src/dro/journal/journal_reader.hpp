// Reading a journal, record by record. Every error is one line that names the file, the line and
// the record.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "analysis/footprint.hpp"
#include "base/result.hpp"
#include "dro/edges/edge_table.hpp"
#include "dro/journal/journal_format.hpp"

namespace sluice::dro {

// JournalRecord is one whole line whose seal was right.
struct JournalRecord {
  std::string kind;      // "buffer", "footprint", "launch", ...
  std::string text;      // without its seal, as journal_format made it
  std::string where;     // "FILE:12 (footprint 3)"
  nlohmann::json value;  // the same, parsed
};

// JournalReader streams the records after the header. A journal that a crash cut off in the middle
// of its last line is read up to there; note() then says so. Not thread-safe.
class JournalReader {
 public:
  // open() reads the header. An error where there is no such file, or it is no journal, or one of
  // another version.
  static Result<JournalReader> open(const std::string& path);

  const JournalHeader& header() const { return header_; }

  // next() returns the next record, or nothing at the end.
  Result<std::optional<JournalRecord>> next();

  // note() is a sentence on what is missing at the end; empty where nothing is.
  const std::string& note() const { return note_; }

 private:
  explicit JournalReader(std::string path) : path_(std::move(path)), file_(path_) {}

  std::string path_;
  std::ifstream file_;
  size_t line_number_ = 0;
  JournalHeader header_;
  std::string note_;
};

// Each takes a record apart; an error, naming it, where a member is missing or of another kind.
Result<LaunchRecord> launch_of(const JournalRecord& record);
Result<std::pair<FootprintId, analysis::Footprint>> footprint_of(const JournalRecord& record);
Result<Dro> dro_of(const JournalRecord& record);
Result<std::pair<EdgeTableId, EdgeTable>> edges_of(const JournalRecord& record);
// number_in() is one unsigned member.
Result<uint64_t> number_in(const JournalRecord& record, const char* member);

}  // namespace sluice::dro
