#include "megakernel/host/scratch.hpp"

#include <new>

namespace sluice::megakernel {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

void Scratch::Free::operator()(std::byte* memory) const {
  ::operator delete(memory, alignment);
}

void* Scratch::reserve(uint64_t bytes) {
  if (bytes > bytes_) {
    memory_.reset();
    bytes_ = 0;
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    bytes_ = bytes;
  }
  return memory_.get();
}

}  // namespace sluice::megakernel
