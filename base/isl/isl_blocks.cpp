// isl's blocks outlive their growth for a while. As Polly 19 ships it, isl reads a variable of a
// tableau through a pointer into an array that it has just let grow (cut_to_hyperplane in
// isl_tab.c): where realloc() moves the array, what is read is anything, and the process may end.
// Here a block that grows is copied, and the old one is freed some blocks later.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <malloc.h>

#include "base/thread/thread_owned.hpp"

struct isl_ctx;

namespace {

// FormerBlocks are the blocks of this thread that grew last. The functions of isl that let a
// tableau grow let at most four of its arrays grow at once.
class FormerBlocks {
 public:
  FormerBlocks() = default;
  FormerBlocks(const FormerBlocks&) = delete;
  FormerBlocks& operator=(const FormerBlocks&) = delete;
  ~FormerBlocks() { std::for_each(blocks_.begin(), blocks_.end(), std::free); }

  void add(void* block) {
    std::free(std::exchange(blocks_[next_], block));
    next_ = (next_ + 1) % blocks_.size();
  }

 private:
  std::array<void*, 16> blocks_ = {};
  size_t next_ = 0;
};

}  // namespace

extern "C" {

void* isl_malloc_or_die(isl_ctx* context, size_t bytes);

// The name is the linker's (ld --wrap). A block that cannot grow stays, as with realloc().
void* __wrap_isl_realloc_or_die(isl_ctx* context, void* block, size_t bytes);

void* __wrap_isl_realloc_or_die(isl_ctx* context, void* block, size_t bytes) {
  void* const larger = isl_malloc_or_die(context, bytes);
  if (larger == nullptr || block == nullptr) return larger;
  // ThreadSanitizer gives a block of no bytes one byte, and takes reading it for a mistake. isl has
  // no arrays of one byte.
  const size_t former = malloc_usable_size(block);
  if (former > 1) std::memcpy(larger, block, std::min(bytes, former));
  sluice::ThreadOwned<FormerBlocks>::get().add(block);
  return larger;
}

}  // extern "C"
