// Random launches as explicit sets of bytes, beside the footprints from which the tracker works.
#pragma once

#include <bitset>
#include <cstdint>
#include <utility>
#include <vector>

#include "dro/brute_force.hpp"
#include "dro/strided_kernels.hpp"

namespace sluice::dro::testing {

// Bytes are those of all buffers of a test, one after another.
constexpr size_t most_bytes = 768;
using Bytes = std::bitset<most_bytes>;

// RandomBuffer is one allocation; `first` is its first byte among all.
struct RandomBuffer {
  BufferId id = 0;
  long bytes = 0;
  long first = 0;
};

// BlockTouch is what one block does.
struct BlockTouch {
  Bytes reads, may_writes, must_writes;
  Bytes claims() const { return may_writes | must_writes; }
};

// TouchingLaunch is one launch: for the tracker, and as bytes.
struct TouchingLaunch {
  Footprint footprint;
  std::vector<BoundArgument> bound;
  std::vector<BlockTouch> blocks;
};

// LaunchGenerator binds random kernels to buffers. The same kernels come again with other buffers,
// offsets overlap, both arguments may point into one buffer, and now and then all that is known of
// an access is its buffer.
class LaunchGenerator {
 public:
  LaunchGenerator(Generator& dice, std::vector<RandomBuffer>& buffers)
      : dice_(dice), buffers_(buffers) {}

  // add_kernel() draws a kernel of two arguments whose bytes lie in [0, bytes).
  void add_kernel(long bytes) {
    Kernel made{dice_.kernel(2, bytes), {}};
    for (ArgumentFootprint& argument : made.random.footprint.arguments) {
      Whole& whole = made.whole.emplace_back();
      if (dice_.pick(0, 19) == 0) argument.reads = testing::whole(), whole.reads = true;
      if (dice_.pick(0, 24) == 0) argument.may_writes = testing::whole(), whole.writes = true;
    }
    kernels_.push_back(std::move(made));
  }

  // add_atomic_kernel() draws one that only adds to what it touches.
  void add_atomic_kernel(long bytes) {
    Kernel made{dice_.kernel(2, bytes), {}};
    for (size_t i = 0; i < 2; ++i) {
      RandomArgument& bytes_of = made.random.arguments[i];
      ArgumentFootprint& text = made.random.footprint.arguments[i];
      text = {text.reads, text.reads, {}};
      bytes_of.may_writes = bytes_of.reads;
      bytes_of.must_writes.assign(bytes_of.reads.size(), {});
      made.whole.emplace_back();
    }
    made.random.footprint.kernel = "adds";
    kernels_.push_back(std::move(made));
  }

  // add_stencil_kernel() draws one that reads and writes tiles of an array of 48 bytes.
  void add_stencil_kernel() {
    StridedGenerator generator(static_cast<uint32_t>(dice_.pick(0, 1 << 30)));
    const StridedArray array{1, 8, 6, 1};
    const Dim3 grid = generator.grid(array);
    Kernel made;
    made.random.footprint = footprint("stencil", grid, {});
    for (size_t i = 0; i < 2; ++i) {
      RandomArgument bytes{BlockBytes(grid.count()), BlockBytes(grid.count()),
                           BlockBytes(grid.count())};
      ArgumentFootprint text;
      if (i == 0 || generator.pick(0, 2) == 0) {
        const RandomAccess access = generator.tiles(array, grid);
        text.reads = exact(access.relation);
        bytes.reads = access.bytes;
      }
      if (i == 1) {
        const RandomAccess access = generator.tiles(array, grid);
        text.must_writes = exact(access.relation);
        bytes.must_writes = access.bytes;
      }
      made.random.footprint.arguments.push_back(text);
      made.random.arguments.push_back(bytes);
      made.whole.emplace_back();
    }
    kernels_.push_back(std::move(made));
  }

  // launch() binds one of the kernels. Each buffer holds `slack` bytes beyond the kernels' own.
  TouchingLaunch launch(long slack) {
    const Kernel& kernel = kernels_[size_t(dice_.pick(0, long(kernels_.size()) - 1))];
    TouchingLaunch made;
    made.footprint = kernel.random.footprint;
    made.blocks.resize(made.footprint.shape.grid.count());
    for (size_t i = 0; i < kernel.random.arguments.size(); ++i) {
      const RandomBuffer& buffer = buffers_[size_t(dice_.pick(0, long(buffers_.size()) - 1))];
      const long offset = dice_.pick(0, slack / 4) * 4;
      made.bound.push_back({buffer.id, uint64_t(offset)});
      const RandomArgument& argument = kernel.random.arguments[i];
      for (size_t block = 0; block < made.blocks.size(); ++block) {
        BlockTouch& touch = made.blocks[block];
        place(argument.reads[block], buffer, offset, touch.reads);
        place(argument.may_writes[block], buffer, offset, touch.may_writes);
        place(argument.must_writes[block], buffer, offset, touch.must_writes);
        if (kernel.whole[i].reads) fill(buffer, touch.reads);
        if (kernel.whole[i].writes) fill(buffer, touch.may_writes);
      }
    }
    return made;
  }

 private:
  struct Whole {
    bool reads = false;
    bool writes = false;
  };
  struct Kernel {
    RandomKernel random;
    std::vector<Whole> whole;  // by argument
  };

  static void place(const std::set<long>& from, const RandomBuffer& buffer, long offset,
                    Bytes& bytes) {
    for (long byte : from)
      bytes.set(size_t(buffer.first + offset + byte));
  }
  static void fill(const RandomBuffer& buffer, Bytes& bytes) {
    for (long byte = 0; byte < buffer.bytes; ++byte)
      bytes.set(size_t(buffer.first + byte));
  }

  Generator& dice_;
  std::vector<RandomBuffer>& buffers_;
  std::vector<Kernel> kernels_;
};

// hazards_between() compares two blocks, the master first.
inline Hazards hazards_between(const BlockTouch& master, const BlockTouch& slave) {
  return {(master.claims() & slave.reads).any(), (master.reads & slave.claims()).any(),
          (master.claims() & slave.claims()).any()};
}

}  // namespace sluice::dro::testing
