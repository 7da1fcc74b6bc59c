// Copies and fills of device memory as launches: a block is a piece of one, and which bytes it
// reads and writes is known without any analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/code/kernel_model.hpp"
#include "runtime/device.hpp"

namespace sluice::runtime {

// Transfer is a copy between device memory, or a fill of it, as the program asks for it: rows of
// `row_bytes` whose beginnings are a pitch apart.
struct Transfer {
  enum class Kind { copy, fill };
  Kind kind = Kind::copy;
  uint64_t to = 0;
  uint64_t from = 0;  // of a copy
  uint64_t row_bytes = 0;
  uint64_t rows = 1;
  uint64_t to_pitch = 0;
  uint64_t from_pitch = 0;
  uint32_t value = 0;          // of a fill: one element
  uint32_t element_bytes = 1;  // of a fill: 1, 2 or 4
  StreamKey stream;
  // Whether the program's call returns only when it is done where any of the memory is not the
  // device's alone (CUDA's API synchronization behavior).
  bool host_waits = false;

  uint64_t to_extent() const { return (rows - 1) * to_pitch + row_bytes; }
  uint64_t from_extent() const { return (rows - 1) * from_pitch + row_bytes; }
};

// is_simple() is false where the driver may refuse the transfer, where it does nothing, where the
// order of its pieces would show, or where it has more rows than a grid.
bool is_simple(const Transfer& transfer);

// TransferLaunch is the launch that does a transfer for which is_simple() holds; call() is good as
// long as it lives.
class TransferLaunch {
 public:
  // Parameters is the launch's parameter block.
  struct Parameters {
    uint64_t to = 0;
    uint64_t from = 0;
    uint64_t row_bytes = 0;
    uint64_t rows = 0;
    uint64_t to_pitch = 0;
    uint64_t from_pitch = 0;
    uint64_t piece_bytes = 0;  // of a row, that one block does
    uint32_t value = 0;
    uint32_t element_bytes = 0;
  };

  explicit TransferLaunch(const Transfer& transfer);
  TransferLaunch(const TransferLaunch&) = delete;
  TransferLaunch& operator=(const TransferLaunch&) = delete;

  const LaunchCall& call() const { return call_; }

 private:
  Parameters parameters_;
  size_t bytes_ = sizeof(Parameters);
  void* extra_[5];
  LaunchCall call_;
};

// transfer_of() is what such a launch does; nothing of another one.
std::optional<Transfer> transfer_of(const LaunchCall& call);

// The kernels behind them: their handle, their name in the journal, which no kernel of a program
// can have, their footprints and their code for workers of the host.
void* transfer_function(Transfer::Kind kind);
const char* transfer_name(Transfer::Kind kind);
std::unique_ptr<KernelModel> transfer_model(Transfer::Kind kind);
SluiceBlockCode transfer_code(Transfer::Kind kind);

}  // namespace sluice::runtime
