// Memory of one worker for the shared memory and kept values of the block it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice::megakernel {

// Scratch is grown on use and never shrinks. Not thread-safe: one object for each worker.
class Scratch {
 public:
  // reserve() returns at least `bytes` bytes, aligned to 64; the content is not kept. Throws
  // std::bad_alloc.
  void* reserve(uint64_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  uint64_t bytes_ = 0;
};

}  // namespace sluice::megakernel
