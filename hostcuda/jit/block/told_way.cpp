#include "hostcuda/jit/block/told_way.hpp"

#include <fmt/format.h>

#include "ptx/lift.hpp"

namespace sluice::hostcuda::jit {
namespace {

enum Kind : unsigned { barriers, meetings, operations, rounds, kinds };

Kind kind_of(const SyncPoint& point) {
  if (point.is_lockstep) return rounds;
  if (point.code.operation == SyncOperation::meeting) return meetings;
  return point.code.operation < SyncOperation::warp_barrier ? barriers : operations;
}

}  // namespace

std::string told_way(const KernelRegions& regions, bool structured) {
  constexpr const char* names[kinds] = {"barriers of the block", "meetings of lanes that part",
                                        "operations of warps", "loops gone through together"};
  unsigned counts[kinds] = {};
  uint32_t first[kinds] = {};
  for (const SyncPoint& point : regions.points) {
    const Kind kind = kind_of(point);
    ++counts[kind];
    const uint32_t line = point.call ? ptx::source_line(*point.call) : 0;
    if (line != 0 && (first[kind] == 0 || line < first[kind])) first[kind] = line;
  }
  std::string text = structured ? "all threads go on together in loops"
                                : "each thread has a state of its own, as some wait apart";
  for (unsigned kind = 0; kind < kinds; ++kind) {
    if (counts[kind] == 0) continue;
    text += fmt::format(", {} {}", counts[kind], names[kind]);
    if (first[kind] != 0) text += fmt::format(" from PTX line {}", first[kind]);
  }
  return text;
}

}  // namespace sluice::hostcuda::jit
