// The threads of a worker that run one block, in code for workers that run several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "megakernel/cuda/side_by_side.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// place_of_barrier_id() is which operand of a barrier of the block its number is; barrier_id() is
// that, or null where it is no literal.
size_t place_of_barrier_id(const ptx::Instruction& barrier);
const ptx::IntegerLiteral* barrier_id(const ptx::Instruction& barrier);

// BlockGroup writes what tells a body's threads where they are: in the worker's first group, unless
// blocks run side by side.
class BlockGroup {
 public:
  // With no needs given the block has the worker for itself.
  explicit BlockGroup(std::optional<SideBySide> needs) : needs_(needs) {}

  // open() goes before all else in a function.
  void open(ptx::Block& out) const;
  // thread() is text that puts the thread's number in its block into a register of 32 bits.
  std::string thread(const std::string& to) const;
  // pool() is what an address in the block's own part of the pool begins with, which is at the
  // pool's offsets: a name or a register of 32 bits.
  std::string pool() const;
  // threads_apart() is how many make a group; 0: the block has the worker for itself.
  uint32_t threads_apart() const { return needs_ ? needs_->threads : 0; }
  bool is_moved() const { return needs_ && needs_->has_memory; }
  // meet() is a barrier of the block, which counts its threads and has a literal as its number.
  void meet(ptx::Instruction barrier, ptx::Block& out) const;

  // own_barriers() gives each of so many groups barriers of its own, in a function of a body's form
  // for groups. Without it all would have the block's numbers.
  static void own_barriers(ptx::Function& function, const SideBySide& needs, uint32_t groups);

 private:
  std::optional<SideBySide> needs_;
};

}  // namespace sluice::megakernel
