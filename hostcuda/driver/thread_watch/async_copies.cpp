#include "hostcuda/driver/thread_watch/async_copies.hpp"

#include <algorithm>

namespace sluice::hostcuda {

void AsyncCopies::begin_block() {
  of_.clear();
  pending_ = 0;
}

void AsyncCopies::waited(uint32_t thread, uint32_t groups) {
  const auto found = of_.find(thread);
  if (found == of_.end()) return;
  Thread& who = found->second;
  std::erase_if(who.copies, [&](const Copy& copy) {
    if (copy.group + groups >= who.committed) return false;
    ThreadAccess store = copy.store;
    store.kind &= ~(access_kind::is_async | access_kind::has_value | access_kind::has_source);
    touched_.touch(store, true);
    --pending_;
    return true;
  });
}

void AsyncCopies::meet(const ThreadAccess& access) {
  if (pending_ != 0) {
    for (const auto& [thread, who] : of_) {
      for (const Copy& copy : who.copies) {
        const ThreadAccess& store = copy.store;
        const uint64_t begin = std::max(store.address, access.address);
        const uint64_t end = std::min(store.address + store.bytes, access.address + access.bytes);
        // Parts of one copy follow each other; of two copies to one place somebody reads one.
        const bool is_own_copy =
            thread == access.thread && (access.kind & access_kind::is_async) != 0;
        if (begin < end && !is_own_copy) touched_.tell({store, access, begin, end});
      }
    }
  }
  if ((access.kind & access_kind::is_async) == 0) return;
  Thread& who = of_[access.thread];
  who.copies.push_back({access, who.committed});
  ++pending_;
}

}  // namespace sluice::hostcuda
