// The accesses of one block's threads, held against the memory that there is.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hostcuda/driver/memory_watch/checked_bytes.hpp"
#include "hostcuda/driver/memory_watch/memory_faults.hpp"

namespace sluice::hostcuda {

// BlockMemory serves one block after the other. Not thread-safe.
class BlockMemory {
 public:
  explicit BlockMemory(MemoryFaults& faults);

  // begin() says which block comes, and where its scratch and its shared memory in it lie.
  void begin(uint32_t block, uintptr_t scratch, uint64_t scratch_bytes);
  void has_shared(uintptr_t begin, uint64_t bytes);
  void accesses(const ThreadAccess& access) {
    const uint64_t misplaced = access.address % access_kind::alignment_of(access.kind);
    constexpr uint32_t others = access_kind::has_source | access_kind::is_shared;
    const bool is_known =
        misplaced == 0 && (access.kind & others) == 0 &&
        checked_.is_known(access.address, access.bytes, (access.kind & access_kind::reads) != 0,
                          (access.kind & access_kind::writes) != 0);
    if (!is_known) check(access, misplaced != 0);
  }

  // checked() is all that the launch's blocks have accessed and that was right, beside their own
  // memory and the module's variables. is_all() is false where anything else was accessed, or bytes
  // were copied that nothing had written.
  const CheckedBytes& checked() const { return checked_; }
  bool is_all() const { return is_all_; }

 private:
  using Shared = std::shared_ptr<WatchedAllocation>;

  // Place is bytes of which it is known whether they are written.
  struct Place {
    WrittenBytes* written = nullptr;  // null: they are
    size_t at = 0;
  };

  const Shared* find(uintptr_t address);
  Place place_of(uintptr_t address, size_t bytes);
  void check(const ThreadAccess& access, bool is_misaligned);
  // initialised() is false where it finds a fault.
  bool initialised(const ThreadAccess& access, const Place& place, const Shared& memory);
  void shared_access(const ThreadAccess& access);
  // outside() judges what no live allocation holds.
  void outside(const ThreadAccess& access);
  bool is_in_variable(const ThreadAccess& access) const;
  bool is_shared(const ThreadAccess& access) const {
    return (access.kind & access_kind::is_shared) != 0 || access.address - shared_ < shared_bytes_;
  }
  void place(MemoryFault& fault) const;
  MemoryFault fault_of(uint32_t what, const ThreadAccess& access) const;
  void add(MemoryFault fault);

  MemoryFaults& faults_;
  CheckedBytes checked_;
  bool is_all_ = true;
  std::shared_ptr<const WatchedAllocations> all_;
  std::array<const Shared*, 4> recent_{};                   // that were found last
  std::optional<std::vector<ModuleVariableAt>> variables_;  // of the module, once needed
  uint32_t block_ = 0;
  uintptr_t scratch_ = 0, shared_ = 0;
  uint64_t scratch_bytes_ = 0, shared_bytes_ = 0;
  std::optional<WrittenBytes> shared_written_;
  uint64_t shared_written_bytes_ = 0;
};

}  // namespace sluice::hostcuda
