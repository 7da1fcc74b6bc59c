#include "runtime/check/host_copies.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "base/number/divide_up.hpp"

namespace sluice::runtime {
namespace {

// A copy has at most so many pieces, each of so many bytes or more: as near as a difference is
// told.
constexpr uint64_t most_pieces = 1024;
constexpr uint64_t smallest_piece = 64;

// How long the end of the program waits for copies that nobody has waited for.
constexpr std::chrono::milliseconds patience_with_copies{500};

}  // namespace

void hash_pieces(const Box& to, dro::CopyRecord& record) {
  record.piece_bytes =
      std::max(smallest_piece, std::bit_ceil(divide_up(record.bytes(), most_pieces)));
  record.pieces.assign(divide_up(record.bytes(), record.piece_bytes), 0);
  uint64_t done = 0;
  for (uint64_t slice = 0; slice < to.slices; ++slice) {
    for (uint64_t row = 0; row < to.rows; ++row) {
      const auto* const bytes =
          reinterpret_cast<const char*>(to.address + slice * to.slice_pitch + row * to.row_pitch);
      // A row is hashed in parts that end where a piece does.
      for (uint64_t at = 0; at < to.row_bytes;) {
        uint64_t& piece = record.pieces[done / record.piece_bytes];
        const uint64_t left = record.piece_bytes - done % record.piece_bytes;
        const uint64_t part = std::min(left, to.row_bytes - at);
        piece = short_digest({bytes + at, part}, piece);
        at += part;
        done += part;
      }
    }
  }
}

// Without the runtime's lock but for the record: a stream that is full has its callers wait, and
// what it runs may need the lock.
void tell_copied(HostCopies& copies, const HostCopy& copy) {
  copies.copied(copy);
}

void HostCopies::copied(const HostCopy& copy) {
  std::optional<dro::CopyRecord> record;
  gate_.enter_open([&] {
    record = record_of(copy);
    if (record->bytes() == 0 && record->unseen.empty()) return record.reset();
    record->number = ++copies_;
  });
  if (!record) return;
  try {
    if (!copy.host_waits && record->unseen.empty()) {
      return note_when_done(copy.to, std::move(*record), copy.stream);
    }
    if (record->unseen.empty()) hash_pieces(copy.to, *record);
    note(std::move(*record));
  } catch (...) {
    // No memory: the copy's number is missing from the journal.
  }
}

dro::CopyRecord HostCopies::record_of(const HostCopy& copy) {
  const Box& from = copy.from;
  dro::CopyRecord record{
      .thread = threads_.try_emplace(std::this_thread::get_id(), threads_.size() + 1).first->second,
      .stream = streams_.name_of(copy.stream).number,
      .launches = follower_.launches(),
      .function = copy.function,
      .unseen = copy.unseen == nullptr ? "" : copy.unseen,
      .row_bytes = copy.to.row_bytes,
      .rows = copy.to.rows,
      .row_pitch = from.row_pitch,
      .slices = copy.to.slices,
      .slice_pitch = from.slice_pitch};
  const std::optional<Allocation> found =
      from.address == 0 ? std::nullopt : buffers_.find(from.address);
  if (found) {
    record.buffer = found->buffer;
    record.offset = from.address - found->address;
  }
  return record;
}

// In the order of the stream, behind the copy, its bytes are there and nobody has changed them yet:
// who waits for the stream waits for this too.
void HostCopies::note_when_done(const Box& to, dro::CopyRecord record, const StreamKey& stream) {
  const auto work = [this, to, record]() mutable noexcept {
    try {
      hash_pieces(to, record);
      note(std::move(record));
    } catch (...) {
      // As above.
    }
    const std::lock_guard lock(mutex_);
    --waiting_;
    is_done_.notify_all();
  };
  {
    const std::lock_guard lock(mutex_);
    ++waiting_;
  }
  if (device_.enqueue(stream, work) == 0) return;
  {
    const std::lock_guard lock(mutex_);
    --waiting_;
  }
  record.unseen = "the device takes no host function";
  note(std::move(record));
}

void HostCopies::note(dro::CopyRecord record) {
  const std::lock_guard lock(mutex_);
  if (journal_ != nullptr) journal_->note(std::move(record));
}

void HostCopies::finished(dro::JournalWriter* /*journal*/) {
  std::unique_lock lock(mutex_);
  is_done_.wait_for(lock, patience_with_copies, [this] { return waiting_ == 0; });
  dro::CopyRecord end;
  end.number = copies_;
  end.function = dro::CopyRecord::at_end;
  journal_->note(std::move(end));
  journal_ = nullptr;
}

}  // namespace sluice::runtime
