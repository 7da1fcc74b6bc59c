#include "hostcuda/driver/thread_watch/touched_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::hostcuda {
namespace {

// 3 MiB of cells, which serve one block after the other and so stay in the cache.
constexpr size_t most_pages = 512;

// may_meet() is true of accesses that may go on at once: both are meant for it. Of lanes of one
// warp volatile ones count only where one waits for the other: else the lanes rely on being in
// step.
bool may_meet(uint32_t a, uint32_t b, bool same_warp) {
  if ((a & access_kind::is_strong) == 0 || (b & access_kind::is_strong) == 0) return false;
  const bool both_atomic = (a & b & access_kind::is_atomic) != 0;
  const bool both_write = (a & b & access_kind::writes) != 0;  // a turn that is handed on
  return both_atomic || both_write || !same_warp || ((a | b) & access_kind::polls) != 0;
}

// changes_nothing() is true of a store of what is there already.
bool changes_nothing(const ThreadAccess& access) {
  return (access.kind & access_kind::has_value) != 0 &&
         std::memcmp(reinterpret_cast<const void*>(access.address), &access.value, access.bytes) ==
             0;
}

}  // namespace

void TouchedBytes::begin_block() {
  block_began_ = clocks_.phase();
  if (pages_.size() > most_pages) {
    for (auto& [number, page] : pages_)
      spare_pages_.push_back(std::move(page));
    pages_.clear();
    known_pages_ = {};
  }
  if (!bytes_.empty()) bytes_.clear();
}

TouchedBytes::Cell& TouchedBytes::word(uint64_t number) {
  Cell& cell = page(number / page_words).cells[number % page_words];
  if (cell.phase != clocks_.phase()) renew(cell);
  return cell;
}

TouchedBytes::Page* TouchedBytes::find_page(uint64_t number) {
  std::unique_ptr<Page>& found = pages_[number];
  if (found == nullptr && !spare_pages_.empty()) {
    found = std::move(spare_pages_.back());
    spare_pages_.pop_back();
  } else if (found == nullptr) {
    found = std::make_unique<Page>();
  }
  known_pages_[number % known_pages_.size()] = {number, found.get()};
  return found.get();
}

void TouchedBytes::renew(Cell& cell) const {
  cell.phase = clocks_.phase();
  cell.write.thread = cell.read.thread = cell.other_read.thread = nobody;
  cell.more_reads = 0;
  cell.is_silent = cell.is_split = cell.has_two_warps = false;
}

void TouchedBytes::split(Cell& cell, uint64_t address) {
  if (cell.is_split) return;
  for (uint64_t byte = address; byte < address + word_bytes; ++byte) {
    Cell& part = bytes_[byte] = cell;
    if (part.more_reads == 0) continue;
    more_reads_.push_back(more_reads_[part.more_reads - 1]);
    part.more_reads = static_cast<uint32_t>(more_reads_.size());
  }
  cell.is_split = true;
}

bool TouchedBytes::has_enough(const ThreadAccess& access, uint64_t number) {
  const Cell& cell = word(number);
  const bool is_unwritten = cell.write.thread == nobody || cell.write.thread == access.thread;
  if (!is_unwritten || cell.is_split) return false;
  const uint64_t warp = access.thread / ThreadClocks::lanes;
  const bool has_of_warp = cell.other_read.thread != nobody && !clocks_.orders_threads() &&
                           cell.read.thread / ThreadClocks::lanes == warp;
  if (!cell.has_two_warps && !has_of_warp) return false;
  if (cell.write.thread == nobody)
    page(number / page_words).settled[number % page_words] =
        settled(cell.has_two_warps ? 0 : warp + 1);
  return true;
}

void TouchedBytes::note(const ThreadAccess& access, bool is_shared) {
  const Moment moment = clocks_.now(access.thread);
  if (reads_phase_ != clocks_.phase()) {
    reads_phase_ = clocks_.phase();
    if (!more_reads_.empty()) more_reads_.clear();
  }
  const bool keeps = (access.kind & access_kind::writes) != 0 && changes_nothing(access);
  const auto meet_in = [&](Cell& cell, uint64_t begin, uint64_t end) {
    const bool is_silent = keeps && (!is_shared || cell.written >= block_began_);
    meet(cell, access, moment, is_silent, begin, end);
  };
  const uint64_t end = access.address + access.bytes;
  for (uint64_t at = access.address; at < end;) {
    const uint64_t begin_of_word = at - at % word_bytes;
    const uint64_t number = begin_of_word / word_bytes;
    Cell& cell = word(number);
    page(number / page_words).settled[number % page_words] = 0;
    const bool is_whole = at == begin_of_word && end - at >= word_bytes;
    if (is_whole && !cell.is_split) {
      meet_in(cell, at, at + word_bytes);
      at += word_bytes;
      continue;
    }
    split(cell, begin_of_word);
    for (const uint64_t stop = std::min(end, begin_of_word + word_bytes); at < stop; ++at)
      meet_in(bytes_[at], at, at + 1);
  }
  if ((access.kind & access_kind::is_strong) != 0) clocks_.accessed(access);
}

// look_at() tells where an earlier access races with the one of `bytes`.
void TouchedBytes::look_at(const Cell& cell, const Touch& earlier, const Conflict& bytes) {
  const ThreadAccess& access = bytes.later;
  if (earlier.thread == nobody || earlier.thread == access.thread) return;
  const bool same_warp =
      earlier.thread / ThreadClocks::lanes == access.thread / ThreadClocks::lanes;
  if (may_meet(earlier.kind, access.kind, same_warp)) return;
  if (clocks_.is_before({cell.phase, earlier.thread, earlier.time}, access.thread)) return;
  Conflict conflict = bytes;
  conflict.earlier.thread = earlier.thread;
  conflict.earlier.kind = earlier.kind;
  conflict.earlier.line = earlier.line;
  tell_(conflict);
}

void TouchedBytes::meet(Cell& cell, const ThreadAccess& access, const Moment& moment,
                        bool is_silent, uint64_t begin, uint64_t end) {
  const bool writes = (access.kind & access_kind::writes) != 0;
  const bool is_first_write = cell.write.thread == nobody || cell.write.thread == access.thread;
  if (!is_silent && !is_first_write && (writes || !cell.is_silent))
    look_at(cell, cell.write, {{}, access, begin, end});
  if (writes && !is_silent && (cell.read.thread != nobody || cell.more_reads != 0)) {
    const Conflict bytes{{}, access, begin, end};
    look_at(cell, cell.read, bytes);
    look_at(cell, cell.other_read, bytes);
    if (cell.more_reads != 0) {
      for (const Touch& read : more_reads_[cell.more_reads - 1])
        look_at(cell, read, bytes);
    }
  }
  const bool is_alone = is_first_write && cell.other_read.thread == nobody &&
                        cell.more_reads == 0 &&
                        (cell.read.thread == nobody || cell.read.thread == access.thread);
  if (is_silent ? !is_alone : !is_first_write && cell.is_silent) depends_on_values_ = true;
  const Touch touch{access.thread, moment.time, access.line, access.kind};
  if ((access.kind & access_kind::reads) != 0) add_read(cell, touch);
  if (!writes) return;
  cell.written = cell.phase;
  if (cell.write.thread == nobody || cell.is_silent || !is_silent) {
    cell.write = touch;
    cell.is_silent = is_silent;
  }
}

void TouchedBytes::add_read(Cell& cell, const Touch& touch) {
  // Who may meet the one of two strong reads may race with a plain one.
  if ((touch.kind & access_kind::is_strong) != 0) return add_to_list(cell, touch);
  if (cell.has_two_warps) return;
  const auto is_of = [](const Touch& read, const Touch& other) {
    return read.thread / ThreadClocks::lanes == other.thread / ThreadClocks::lanes;
  };
  const bool is_alone = cell.other_read.thread == nobody;
  const bool replaces =
      cell.read.thread == nobody || cell.read.thread == touch.thread ||
      (is_alone && clocks_.is_before({cell.phase, cell.read.thread, cell.read.time}, touch.thread));
  if (replaces) {
    cell.read = touch;
  } else if (is_alone || cell.other_read.thread == touch.thread) {
    cell.other_read = touch;
    cell.has_two_warps = !clocks_.orders_warps() && !is_of(cell.read, touch);
  } else if (!clocks_.orders_warps() && !is_of(cell.read, touch)) {
    cell.other_read = touch;
    cell.has_two_warps = true;
  } else if (clocks_.orders_threads()) {
    add_to_list(cell, touch);
  }
}

// The list is kept in the order of its threads, one read of each.
void TouchedBytes::add_to_list(Cell& cell, const Touch& touch) {
  if (cell.more_reads == 0) {
    more_reads_.emplace_back();
    cell.more_reads = static_cast<uint32_t>(more_reads_.size());
  }
  std::vector<Touch>& reads = more_reads_[cell.more_reads - 1];
  const auto place = reads.empty() || reads.back().thread < touch.thread
                         ? reads.end()
                         : std::ranges::lower_bound(reads, touch.thread, {}, &Touch::thread);
  if (place != reads.end() && place->thread == touch.thread) {
    *place = touch;
  } else {
    reads.insert(place, touch);
  }
}

}  // namespace sluice::hostcuda
