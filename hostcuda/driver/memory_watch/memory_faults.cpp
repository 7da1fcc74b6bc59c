#include "hostcuda/driver/memory_watch/memory_faults.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sluice::hostcuda {

MemoryFaults::MemoryFaults(MemoryWatch& watch, const WatchedKernel& kernel,
                           const uint32_t (&grid)[3])
    : watch_(watch), kernel_(kernel) {
  std::ranges::copy(grid, grid_);
}

void MemoryFault::join(MemoryFault other) {
  // They may be offsets, before where shared memory begins.
  const auto lower = [](uintptr_t a, uintptr_t b) {
    return static_cast<intptr_t>(a) < static_cast<intptr_t>(b);
  };
  const uintptr_t joined_first = std::min(first, other.first, lower);
  const uintptr_t joined_last = std::max(last, other.last, lower);
  if (std::pair(other.block, other.access.thread) < std::pair(block, access.thread))
    *this = std::move(other);
  first = joined_first;
  last = joined_last;
}

void MemoryFaults::add(MemoryFault fault) {
  const std::lock_guard lock(mutex_);
  // Each block has its shared memory elsewhere. Its addresses have 32 bits.
  if (fault.is_shared) {
    const auto offset_of = [&](uintptr_t address) {
      return static_cast<uintptr_t>(int64_t{static_cast<int32_t>(address - fault.shared_begin)});
    };
    fault.first = offset_of(fault.first);
    fault.last = offset_of(fault.last);
  }
  const auto [place, is_new] =
      faults_.try_emplace({fault.what, fault.access.line, fault.memory_begin()}, fault);
  if (!is_new) place->second.join(std::move(fault));
}

MemoryFaults::~MemoryFaults() {
  if (faults_.empty()) return;
  const ptx::SourceLines lines = lines_of(kernel_);
  // Where nvcc unrolled a loop, a line of the source is several of the PTX.
  std::map<std::tuple<uint32_t, std::string, uint32_t, uintptr_t>, MemoryFault> by_source;
  for (const auto& [key, fault] : faults_) {
    const auto place = lines.at(fault.access.line);
    const auto [known, is_new] = by_source.try_emplace(
        {fault.what, place ? place->user_file() : std::string(),
         place ? place->user_line() : fault.access.line, fault.memory_begin()},
        fault);
    if (!is_new) known->second.join(fault);
  }
  for (const auto& [key, fault] : by_source)
    tell(fault, lines);
}

void MemoryFaults::tell(const MemoryFault& fault, const ptx::SourceLines& lines) {
  const uint32_t block_size[3] = {kernel_.block.x, kernel_.block.y, kernel_.block.z};
  SluiceMemoryFault told = {};
  told.what = fault.what;
  told.access.kernel = kernel_.kernel.name().c_str();
  std::ranges::copy(grid_, told.access.grid);
  std::ranges::copy(block_size, told.access.block_size);
  place_in_box(told.access.block, fault.block, grid_);
  place_in_box(told.access.thread, fault.access.thread, block_size);
  told.access.reads = fault.access.kind & access_kind::reads;
  told.access.writes = fault.access.kind & access_kind::writes;
  told.access.alignment = access_kind::alignment_of(fault.access.kind);
  told.access.ptx_line = fault.access.line;
  const std::optional<ptx::SourcePlace> place = lines.at(fault.access.line);
  if (place) {
    told.access.file = place->user_file().c_str();
    told.access.line = place->user_line();
  }
  told.first_byte = static_cast<int64_t>(fault.first);
  told.last_byte = static_cast<int64_t>(fault.last);
  if (fault.is_shared) {
    told.memory = "the block's shared memory";
    told.memory_bytes = fault.shared_bytes;
  } else if (fault.variable) {
    told.memory = kind_text(MemoryKind::variable);
    told.name = fault.variable->name.c_str();
    told.memory_bytes = fault.variable->bytes;
    told.first_byte -= static_cast<int64_t>(fault.variable->begin);
    told.last_byte -= static_cast<int64_t>(fault.variable->begin);
  } else {
    place_in(told, fault.memory.get());
  }
  told.site = {kernel_.site.callers.data(), kernel_.site.depth};
  watch_.tell(told);
}

}  // namespace sluice::hostcuda
