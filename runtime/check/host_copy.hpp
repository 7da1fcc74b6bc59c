// What the shim tells of copies to the host, where these are hashed.
#pragma once

#include <cstdint>

#include "megakernel/stream_key.hpp"

namespace sluice::runtime {

class HostCopies;

// Box is where a copy's bytes lie: rows of `row_bytes` whose beginnings are `row_pitch` bytes
// apart, and slices of so many rows.
struct Box {
  uint64_t address = 0;
  uint64_t row_bytes = 0;
  uint64_t rows = 1;
  uint64_t row_pitch = 0;
  uint64_t slices = 1;
  uint64_t slice_pitch = 0;
};

// HostCopy is a copy from the device (`from`; address 0: from elsewhere) to memory of the host.
struct HostCopy {
  const char* function = "";
  Box from;
  Box to;
  StreamKey stream;
  bool host_waits = false;       // the call returns when it is done
  const char* unseen = nullptr;  // why its bytes cannot be hashed; else null
};

// tell_copied() is HostCopies::copied(), for who need not know the rest of it.
void tell_copied(HostCopies& copies, const HostCopy& copy);

}  // namespace sluice::runtime
