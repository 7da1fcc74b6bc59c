// Two runs of a program beside each other: the first copy to the host in which they differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "tools/verify/recorded_copies.hpp"

namespace sluice::tools {

// Difference is a copy of one run and the one that answers to it in the other; either is null where
// that run has made no such copy. What it points to is the runs'.
struct Difference {
  const dro::CopyRecord* first = nullptr;
  const dro::CopyRecord* second = nullptr;
  const ProcessRecord* first_process = nullptr;
  const ProcessRecord* second_process = nullptr;  // null where `second` is
  std::optional<size_t> piece;  // the first that differs; none where the calls are not alike
  // When the copy was called, for order: process and copy of the first run; a copy that is the
  // second run's alone comes after the last one that answers to it.
  std::pair<size_t, uint64_t> moment;
};

// first_difference() compares the copies of each stream and host thread in their order: across
// these the order of calls may differ from run to run. Which of one run answer to which of the
// other is told by what they copy, and only then by their numbers.
std::optional<Difference> first_difference(const RunRecord& first, const RunRecord& second);

}  // namespace sluice::tools
