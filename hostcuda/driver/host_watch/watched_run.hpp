// What work of the device does to memory that the host reaches, where the host is watched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hostcuda/driver/host_watch/spans.hpp"

namespace sluice::hostcuda {

// HostUse is what a piece of work says of itself before it runs.
struct HostUse {
  const char* name = "";  // a kernel's, or what it is; lives as long as the work
  Spans reads, writes;    // these bytes, whatever its data
  // Of a kernel: words that may be addresses, in whose allocations it may do anything.
  bool is_kernel = false;
  std::vector<uintptr_t> pointers;
};

// AccessRecord is what a kernel did in the memory that the host reaches.
class AccessRecord {
 public:
  // `memory` is joined.
  explicit AccessRecord(Spans memory) : memory_(std::move(memory)) {}

  // heard() is a SluiceAccessSink's function, with a record.
  static void heard(void* record, uint64_t address, uint64_t bytes, uint32_t kind, uint32_t line);
  Spans reads() const { return joined(reads_); }
  Spans writes() const { return joined(writes_); }

 private:
  static void add(Spans& spans, const Span& span);

  const Spans memory_;
  Spans reads_, writes_;
};

// WatchedRun is how a piece of work runs where the host is watched.
struct WatchedRun {
  AccessRecord* record = nullptr;          // of a kernel; null: as ever
  const std::byte* kept_source = nullptr;  // of a copy: what its source was when it was called
};

}  // namespace sluice::hostcuda
