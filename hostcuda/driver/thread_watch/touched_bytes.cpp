#include "hostcuda/driver/thread_watch/touched_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::hostcuda {
namespace {

// 64 MiB of cells, which serve one block after the other.
constexpr size_t most_spare_pages = 4096;

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
  for (auto& [number, page] : pages_) {
    if (spare_.size() < most_spare_pages) spare_.push_back(std::move(page));
  }
  pages_.clear();
  last_number_ = UINT64_MAX;
  bytes_.clear();
}

TouchedBytes::Cell& TouchedBytes::word(uint64_t number) {
  const uint64_t page = number / page_words;
  if (page != last_number_) {
    std::unique_ptr<Page>& found = pages_[page];
    if (found == nullptr && !spare_.empty()) {
      found = std::move(spare_.back());
      spare_.pop_back();
    } else if (found == nullptr) {
      found = std::make_unique<Page>();
    }
    last_number_ = page;
    last_ = found.get();
  }
  Cell& cell = (*last_)[number % page_words];
  fresh(cell);
  return cell;
}

void TouchedBytes::fresh(Cell& cell) const {
  if (cell.phase == clocks_.phase()) return;
  const uint64_t written = cell.written;
  cell = Cell{};
  cell.written = written;
  cell.phase = clocks_.phase();
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

void TouchedBytes::touch(const ThreadAccess& access, bool is_shared, const Tell& tell) {
  const Moment moment = clocks_.now(access);
  if (reads_phase_ != clocks_.phase()) {
    reads_phase_ = clocks_.phase();
    more_reads_.clear();
  }
  const bool keeps = (access.kind & access_kind::writes) != 0 && changes_nothing(access);
  const auto meet_in = [&](Cell& cell, uint64_t begin, uint64_t end) {
    const bool is_silent = keeps && (!is_shared || cell.written >= block_began_);
    meet(cell, access, moment, is_silent, {{}, access, begin, end}, tell);
  };
  const uint64_t end = access.address + access.bytes;
  for (uint64_t at = access.address; at < end;) {
    const uint64_t begin_of_word = at - at % word_bytes;
    Cell& cell = word(begin_of_word / word_bytes);
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
  clocks_.accessed(access);
}

void TouchedBytes::meet(Cell& cell, const ThreadAccess& access, const Moment& moment,
                        bool is_silent, const Conflict& bytes, const Tell& tell) {
  const bool writes = (access.kind & access_kind::writes) != 0;
  const auto look_at = [&](const Touch& earlier, bool earlier_is_silent) {
    if (earlier.thread == nobody || earlier.thread == access.thread) return;
    const bool is_write = (earlier.kind & access_kind::writes) != 0;
    if (is_silent || (earlier_is_silent && !writes)) return;
    const bool same_warp =
        earlier.thread / ThreadClocks::lanes == access.thread / ThreadClocks::lanes;
    if ((!writes && !is_write) || may_meet(earlier.kind, access.kind, same_warp)) return;
    if (clocks_.is_before({cell.phase, earlier.thread, earlier.time}, access.thread)) return;
    Conflict conflict = bytes;
    conflict.earlier.thread = earlier.thread;
    conflict.earlier.kind = earlier.kind;
    conflict.earlier.line = earlier.line;
    tell(conflict);
  };
  look_at(cell.write, cell.is_silent);
  if (writes) {
    look_at(cell.read, false);
    if (cell.more_reads != 0) {
      for (const Touch& read : more_reads_[cell.more_reads - 1])
        look_at(read, false);
    }
  }
  const Touch touch{access.thread, moment.time, access.line, access.kind};
  if ((access.kind & access_kind::reads) != 0) add_read(cell, touch);
  if (writes) cell.written = cell.phase;
  const bool replaces = cell.write.thread == nobody || cell.is_silent || !is_silent;
  if (writes && replaces) {
    cell.write = touch;
    cell.is_silent = is_silent;
  }
}

// The reads are kept in the order of their threads, one of each.
void TouchedBytes::add_read(Cell& cell, const Touch& touch) {
  if (cell.more_reads == 0) {
    const bool replaces =
        cell.read.thread == nobody ||
        clocks_.is_before({cell.phase, cell.read.thread, cell.read.time}, touch.thread);
    if (replaces) {
      cell.read = touch;
      return;
    }
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
