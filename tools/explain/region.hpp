// Bytes of one block as a programmer sees an array: rows and columns, or planes of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/check/byte_runs.hpp"

namespace sluice::tools {

// Box is a range for each pitch (planes, rows) and one of bytes within a row.
using Box = std::vector<Range>;

// Pitches are distances in bytes, the largest first: {} for one range, {row} or {plane, row}. Each
// is a multiple of the next.
using Pitches = std::vector<int64_t>;

// likely_pitches() guesses from the distances between runs how the array may be laid out, the most
// structured guess first; for each, box_of() gives a box. The last is {}.
std::vector<Pitches> likely_pitches(const ByteRuns& runs);

// box_of() is the smallest box around `runs`; nothing where a run goes past the end of a row or
// there is none.
std::optional<Box> box_of(const ByteRuns& runs, const Pitches& pitches);

// box_bytes() is how many bytes a box holds.
uint64_t box_bytes(const Box& box);

}  // namespace sluice::tools
