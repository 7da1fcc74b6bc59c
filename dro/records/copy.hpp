// The journal's record of a copy to the host, written only where a run is verified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dro/fields.hpp"
#include "dro/types.hpp"

namespace sluice::dro {

// CopyRecord is a copy to the host whose bytes were hashed when it was done; copies are numbered in
// the order of their calls and noted as they end. The last of a whole run is none (`at_end`): its
// number says how many there were.
struct CopyRecord {
  static constexpr std::string_view kind = "copy";
  static constexpr Role role = Role::left_out;
  uint64_t number = 0;        // from 1
  uint64_t thread = 0;        // of the host, from 1 in the order of their first copies
  uint64_t stream = 0;        // as of launches
  LaunchNumber launches = 0;  // how many were called before it
  std::string function;       // the driver's
  std::string unseen;         // why its bytes were not hashed; else empty
  BufferId buffer = 0;        // from which it copies; 0: from what Sluice does not know
  uint64_t offset = 0;        // of its first byte in the buffer
  // It takes `row_bytes` from the beginning of each row of a slice; rows and slices begin so many
  // bytes apart in the buffer.
  uint64_t row_bytes = 0;
  uint64_t rows = 0;  // of a slice
  uint64_t row_pitch = 0;
  uint64_t slices = 0;
  uint64_t slice_pitch = 0;
  // Hashes of so many of its bytes each, in their order, the last of what is left.
  uint64_t piece_bytes = 0;
  std::vector<uint64_t> pieces;

  static constexpr std::string_view at_end = "exit";
  uint64_t bytes() const { return row_bytes * rows * slices; }
};

template <>
inline constexpr auto members<CopyRecord> = [](auto& record, auto& member) {
  member("number", record.number);
  member("thread", record.thread);
  member("stream", record.stream);
  member("launches", record.launches);
  member("function", record.function);
  member.unless_empty("unseen", record.unseen);
  member("buffer", record.buffer);
  member("offset", record.offset);
  member("row_bytes", record.row_bytes);
  member("rows", record.rows);
  member("row_pitch", record.row_pitch);
  member("slices", record.slices);
  member("slice_pitch", record.slice_pitch);
  member("piece_bytes", record.piece_bytes);
  member("pieces", record.pieces);
};

}  // namespace sluice::dro
