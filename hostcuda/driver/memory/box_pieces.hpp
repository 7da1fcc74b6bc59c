// A box of memory, cut into pieces that threads share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hostcuda/driver/stream/block_pool.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {

// BoxPieces are the rows of a box, some to a piece, or parts of one where rows are long.
class BoxPieces {
 public:
  BoxPieces(size_t rows, size_t row_bytes)
      : rows_(rows),
        row_bytes_(row_bytes),
        parts_of_row_(std::max<size_t>(1, row_bytes / piece_bytes)),
        rows_of_piece_(std::max<size_t>(1, piece_bytes / std::max<size_t>(1, row_bytes))) {}

  // visit_all() calls visit(row, first byte in it, bytes) for all of the box: by the pool's threads
  // and the calling one, in any order, where there is a pool and that is worth it. Bytes are cut at
  // multiples of a page then, and a fault of the program's own memory reaches its handler, as on
  // its own thread.
  template <class Visit>
  void visit_all(const Visit& visit, BlockPool* pool) const {
    if (pool != nullptr && rows_ * row_bytes_ >= shared_from && visit_all_by(*pool, visit)) return;
    for (size_t row = 0; row < rows_; ++row)
      visit(row, size_t{0}, row_bytes_);
  }

 private:
  // A page table is of so many bytes: two threads that both meet new pages of one wait for each
  // other, and take twice as long together as one alone.
  static constexpr size_t piece_bytes = size_t{2} << 20;
  static constexpr size_t shared_from = 2 * piece_bytes;
  static constexpr size_t bytes_a_nanosecond = 10;  // that a thread copies between memories

  template <class Visit>
  struct Job {
    const BoxPieces& pieces;
    const Visit& visit;
  };

  size_t pieces() const { return (rows_ + rows_of_piece_ - 1) / rows_of_piece_ * parts_of_row_; }

  // False where there is no memory for it; then nothing was visited.
  template <class Visit>
  bool visit_all_by(BlockPool& pool, const Visit& visit) const {
    const Job<Visit> job{*this, visit};
    const SluiceBlockLaunch launch{&job, {static_cast<uint32_t>(pieces()), 1, 1}, 0, 0};
    std::atomic<uint32_t> nanoseconds{piece_bytes / bytes_a_nanosecond};
    return pool.run({visit_some<Visit>, 0, 0}, launch, pieces(), nanoseconds);
  }

  template <class Visit>
  static void visit_some(const SluiceBlockLaunch* launch, uint32_t first, uint32_t count, void*) {
    const auto& job = *static_cast<const Job<Visit>*>(launch->parameters);
    const FaultsOfTheProgram pass;
    for (size_t piece = first; piece < size_t{first} + count; ++piece)
      job.pieces.visit_piece(piece, job.visit);
  }

  template <class Visit>
  void visit_piece(size_t piece, const Visit& visit) const {
    const size_t part = piece % parts_of_row_;
    const size_t from = part * piece_bytes;
    const size_t bytes = part + 1 == parts_of_row_ ? row_bytes_ - from : piece_bytes;
    const size_t first = piece / parts_of_row_ * rows_of_piece_;
    for (size_t row = first; row < std::min(first + rows_of_piece_, rows_); ++row)
      visit(row, from, bytes);
  }

  size_t rows_;
  size_t row_bytes_;
  size_t parts_of_row_;
  size_t rows_of_piece_;
};

}  // namespace sluice::hostcuda
