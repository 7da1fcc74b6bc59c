// Reading a journal, record by record. Every error is one line that names the file, the line and
// the record.
#pragma once

#include <fstream>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "dro/journal/journal_format.hpp"

namespace sluice::dro {

// JournalRecord is one whole line whose seal was right.
struct JournalRecord {
  Record value;
  std::string text;   // without its seal, as text_of() made it
  std::string where;  // "FILE:12 (footprint 3)"
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

  // each() calls `use(record)` with the records that are left, up to the first error of its own or
  // of `use`, which returns a Status.
  template <class Use>
  Status each(Use&& use) {
    while (true) {
      auto record = next();
      if (!record) return tl::unexpected(record.error());
      if (!*record) return {};
      const Status used = use(std::move(**record));
      if (!used) return used;
    }
  }

  // is_damaged() says that next() gave an error because a line was changed or damaged.
  bool is_damaged() const { return is_damaged_; }

  // note() is a sentence on what is missing at the end; empty where nothing is.
  const std::string& note() const { return note_; }

 private:
  explicit JournalReader(std::string path) : path_(std::move(path)), file_(path_) {}

  std::string path_;
  std::ifstream file_;
  size_t line_number_ = 0;
  JournalHeader header_;
  bool is_damaged_ = false;
  std::string note_;
};

// record_of() takes a record's JSON apart; an error, naming `where`, where a member is missing or
// is not what it should be, or the kind is not known.
Result<Record> record_of(const nlohmann::json& value, const std::string& where);

}  // namespace sluice::dro
