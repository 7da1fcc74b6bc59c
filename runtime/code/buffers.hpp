// The program's memory as buffers, and who hears of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <boost/icl/interval_map.hpp>

#include "runtime/check/observer.hpp"
#include "runtime/device.hpp"
#include "runtime/launch/lent_tracker.hpp"

namespace sluice::runtime {

// Allocation is one buffer and where it lies.
struct Allocation {
  dro::BufferId buffer = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool host_may_watch = false;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

// is_flag() is whether the memory may be a flag that the host watches while the device runs. Who
// writes such a flag does so alone; a flag lies in memory of its own, or is read and written by
// volatile or atomic accesses (PtxCode::may_signal).
inline bool is_flag(const Allocation& memory) {
  constexpr uint64_t page = 4096;
  return memory.host_may_watch && memory.bytes <= page;
}

// Buffers maps addresses to buffers, and tells the tracker and the observers of each that comes and
// goes. Every allocation is a new buffer, also where memory is freed and allocated again at the
// same address. Not thread-safe.
class Buffers {
 public:
  Buffers(Device& device, LentTracker& tracker, const Observers& observers)
      : device_(device), tracker_(tracker), observers_(observers) {}

  // add() registers [address, address + bytes) (bytes > 0). Allocations that overlap it can no
  // longer exist, since their end went unseen: they are removed.
  dro::BufferId add(uint64_t address, uint64_t bytes, Memory memory = Memory::of_device);
  // displace() removes them alone, for memory that is no buffer.
  void displace(uint64_t address, uint64_t bytes);
  // remove() forgets the allocation that begins at `address`, if there is one.
  void remove(uint64_t address);
  // find() is the allocation that holds the byte at `address`, if there is one.
  std::optional<Allocation> find(uint64_t address) const;
  // changes() counts add() and remove(): what find() answered before the last one may be void.
  uint64_t changes() const { return changes_; }

  // written() says that the host, ordered after all launches so far, writes these bytes.
  void written(uint64_t address, uint64_t bytes);
  // newest() is the buffer that came last, of all that ever were; 0 before the first.
  dro::BufferId newest() const { return last_; }

  // variable_found() makes a .global variable of loaded code a buffer, unless it is one already,
  // until code_unloaded(). Its first values come with the code.
  void variable_found(void* code, const VariablePlace& place, Memory memory = Memory::of_device);
  // variable() finds one by its name and is its address; 0 where the device does not say. Ask at
  // each launch: a library's variables lie elsewhere in each context.
  uint64_t variable(void* code, const std::string& name, Memory memory = Memory::of_device);
  void code_unloaded(void* code);

 private:
  void remove(const Allocation& gone);

  Device& device_;
  LentTracker& tracker_;
  const Observers& observers_;
  boost::icl::interval_map<uint64_t, dro::BufferId> buffers_;
  std::unordered_set<dro::BufferId> watched_;  // by the host, perhaps
  dro::BufferId last_ = 0;
  uint64_t changes_ = 0;
  std::unordered_multimap<void*, uint64_t> variables_;  // known ones, by their code
};

}  // namespace sluice::runtime
