#include "hostcuda/driver/thread_watch/thread_races.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sluice::hostcuda {
namespace {

bool is_one_warp(const Conflict& conflict) {
  return conflict.earlier.thread / ThreadClocks::lanes ==
         conflict.later.thread / ThreadClocks::lanes;
}

// Lanes in step come to one instruction at once: two writes of one are in no order even then.
bool would_be_in_order(const Conflict& conflict) {
  const bool is_copy = (conflict.earlier.kind & access_kind::is_async) != 0;
  return !is_copy && is_one_warp(conflict) && conflict.earlier.line != conflict.later.line;
}

}  // namespace

ThreadRaces::ThreadRaces(ThreadWatch& watch, const WatchedKernel& kernel, const uint32_t (&grid)[3])
    : watch_(watch), kernel_(kernel) {
  std::ranges::copy(grid, grid_);
}

void ThreadRaces::add(const Conflict& conflict, uint32_t block, const SharedMemory& shared) {
  const std::lock_guard lock(mutex_);
  Memory memory{nullptr, shared.begin, shared.bytes};
  if (!shared.holds(conflict.begin)) {
    const auto allocation = watch_.memory().find(conflict.begin);
    // The stack of a thread that runs the block: what CUDA calls local.
    if (!allocation) return;
    memory = {kind_text(allocation->kind), allocation->address, allocation->bytes};
  }
  const auto [lower, upper] = std::minmax(conflict.earlier.line, conflict.later.line);
  const uint64_t key = memory.kind == nullptr ? 0 : memory.begin;
  Race race{conflict, block, memory, would_be_in_order(conflict)};
  race.first.begin -= memory.begin;
  race.first.end -= memory.begin;
  const auto [place, is_new] = races_.try_emplace({lower, upper, key}, race);
  if (!is_new) place->second.join(race);
}

// Threads of two warps say more than lanes of one; of what says as much the lowest block is told,
// so that every run tells the same.
void ThreadRaces::Race::join(const Race& other) {
  const uint64_t begin = std::min(first.begin, other.first.begin);
  const uint64_t end = std::max(first.end, other.first.end);
  const bool says_more =
      is_between_lanes == other.is_between_lanes ? other.block < block : is_between_lanes;
  if (says_more) *this = other;
  first.begin = begin;
  first.end = end;
}

void ThreadRaces::tell(const Race& race, const ptx::SourceLines& lines) {
  const uint32_t block_size[3] = {kernel_.block.x, kernel_.block.y, kernel_.block.z};
  SluiceThreadRace told = {};
  told.kernel = kernel_.kernel.name().c_str();
  std::ranges::copy(grid_, told.grid);
  std::ranges::copy(block_size, told.block_size);
  place_in_box(told.block, race.block, grid_);
  told.is_between_lanes = race.is_between_lanes ? 1 : 0;
  const ThreadAccess* const sides[2] = {&race.first.earlier, &race.first.later};
  std::optional<ptx::SourcePlace> places[2];
  for (int side = 0; side < 2; ++side) {
    SluiceThreadAccess& access = told.accesses[side];
    place_in_box(access.thread, sides[side]->thread, block_size);
    access.reads = sides[side]->kind & access_kind::reads;
    access.writes = sides[side]->kind & access_kind::writes;
    access.is_async = (sides[side]->kind & access_kind::is_async) != 0 ? 1 : 0;
    access.ptx_line = sides[side]->line;
    places[side] = lines.at(sides[side]->line);
    if (!places[side]) continue;
    access.file = places[side]->user_file().c_str();
    access.line = places[side]->user_line();
  }
  told.memory = race.memory.kind;
  told.first_byte = race.first.begin;
  told.last_byte = race.first.end - 1;
  told.memory_bytes = race.memory.bytes;
  told.site = kernel_.site.callers.data();
  told.site_depth = kernel_.site.depth;
  watch_.tell(told);
}

ThreadRaces::~ThreadRaces() {
  if (races_.empty()) return;
  const ptx::SourceLines lines = lines_of(kernel_);
  // Where nvcc unrolled a loop, a line of the source is several of the PTX.
  const auto line_of = [&](uint32_t line) {
    const auto place = lines.at(line);
    return place ? std::pair(place->user_file(), place->user_line())
                 : std::pair(std::string(), line);
  };
  std::map<std::tuple<std::pair<std::string, uint32_t>, std::pair<std::string, uint32_t>, uint64_t>,
           Race>
      by_source;
  for (const auto& [key, race] : races_) {
    const auto [lower, upper] =
        std::minmax({line_of(race.first.earlier.line), line_of(race.first.later.line)});
    const auto [place, is_new] = by_source.try_emplace({lower, upper, std::get<2>(key)}, race);
    if (!is_new) place->second.join(race);
  }
  for (const auto& [key, race] : by_source)
    tell(race, lines);
}

}  // namespace sluice::hostcuda
