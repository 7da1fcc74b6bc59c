#include "e2e/known_cases/script_reference.hpp"

#include <algorithm>

namespace sluice::e2e {
namespace {

using script::Operation;

constexpr uint32_t word = 4;

struct Bytes {
  char buffer;
  uint32_t begin;
  uint32_t count;
};

struct Block {
  std::vector<Bytes> reads;
  std::vector<Bytes> writes;
};

// Pieces are of 4 KiB of a row; rows that lie side by side count as one, which no script has.
std::vector<Block> pieces_of(const Operation& op) {
  constexpr uint32_t piece = 4096;
  const std::vector<uint32_t>& n = op.numbers;
  const bool is_copy = op.buffers.size() == 2;
  uint32_t width = n[is_copy ? 2 : 1], rows = 1, to_pitch = 0, from = n[1], from_pitch = 0;
  if (op.name == "rows") {
    to_pitch = n[1];
    width = n[2];
    rows = n[3];
  } else if (op.name == "rect") {
    to_pitch = n[1];
    from = n[2];
    from_pitch = n[3];
    width = n[4];
    rows = n[5];
  }
  std::vector<Block> blocks;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t at = 0; at < width; at += piece) {
      const uint32_t count = std::min(piece, width - at);
      Block& block = blocks.emplace_back();
      block.writes.push_back({op.buffers[0], n[0] + row * to_pitch + at, count});
      if (is_copy) block.reads.push_back({op.buffers[1], from + row * from_pitch + at, count});
    }
  }
  return blocks;
}

// Blocks of `width` x `height` threads, of all columns and of rows of blocks from `first` on.
std::vector<Block> stencil_of(const Operation& op, uint32_t side, uint32_t block_side,
                              uint32_t first, uint32_t rows) {
  std::vector<Block> blocks;
  for (uint32_t y = first; y < first + rows; ++y) {
    for (uint32_t x = 0; x < side / block_side; ++x) {
      Block& block = blocks.emplace_back();
      for (uint32_t cell = 0; cell < block_side * block_side; ++cell) {
        const uint32_t row = y * block_side + cell / block_side;
        const uint32_t column = x * block_side + cell % block_side;
        if (row < 1 || column < 1 || row >= side - 1 || column >= side - 1) continue;
        const uint32_t at = row * side + column;
        block.writes.push_back({op.buffers[0], at * word, word});
        for (const uint32_t read : {at, at - 1, at + 1, at - side, at + side})
          block.reads.push_back({op.buffers[1], read * word, word});
      }
    }
  }
  return blocks;
}

std::vector<Block> rows_of_tiles(const Operation& op) {
  const std::vector<uint32_t>& n = op.numbers;
  const uint32_t columns = n[0], tile = n[2], pitch = n[3];
  std::vector<Block> blocks;
  for (uint32_t i = 0; i < columns * n[1]; ++i) {
    blocks.push_back({{{op.buffers[1], i / columns * pitch, columns * tile}},
                      {{op.buffers[0], i * tile, tile}}});
  }
  return blocks;
}

std::vector<Block> blocks_of(const Operation& op) {
  const std::vector<uint32_t>& n = op.numbers;
  if (op.name == "stencil") return stencil_of(op, n[0], 16, 0, n[0] / 16);
  if (op.name == "strip") return stencil_of(op, script::strip_side, 2, n[0], n[1]);
  if (op.name == "row") return rows_of_tiles(op);
  const bool is_kernel =
      op.name == "put" || op.name == "map" || op.name == "two" || op.name == "mix";
  if (!is_kernel) return pieces_of(op);
  const bool is_map = op.name == "map";
  const uint32_t count = n[is_map ? 2 : 0], each = n[is_map ? 3 : 1];
  std::vector<Block> blocks(count);
  for (uint32_t i = 0; i < count; ++i) {
    blocks[i].writes.push_back({op.buffers[0], (is_map ? n[0] : 0) + i * each, each});
    if (op.name != "put")
      blocks[i].reads.push_back({op.buffers[1], (is_map ? n[1] : 0) + i * each, each});
    if (op.name == "two") blocks[i].reads.push_back({op.buffers[2], i * each, each});
    if (op.name == "mix") blocks[i].reads.push_back({op.buffers[2], 0, n[2]});
  }
  return blocks;
}

using LaunchBlock = std::pair<uint64_t, uint64_t>;

// Word is what is live of one word of memory.
struct Word {
  std::set<LaunchBlock> writers;
  std::set<LaunchBlock> readers;
  bool is_fresh = false;  // nobody has read or written it since
};
using Memory = std::map<char, std::vector<Word>>;

template <class Visit>
void for_each_word(Memory& memory, const Bytes& bytes, Visit&& visit) {
  std::vector<Word>& words = memory[bytes.buffer];
  words.resize(script::buffer_bytes / word);
  for (uint32_t at = bytes.begin / word; at < (bytes.begin + bytes.count) / word; ++at)
    visit(words[at]);
}

class Reference {
 public:
  void launch(uint64_t number, const std::vector<Block>& blocks) {
    for (uint64_t i = 0; i < blocks.size(); ++i)
      meet(blocks[i], {number, i});
    // Only now: all of a launch meets what was before it.
    const auto each = [&](auto accesses, auto&& change) {
      for (uint64_t i = 0; i < blocks.size(); ++i)
        for (const Bytes& bytes : blocks[i].*accesses)
          for_each_word(memory_, bytes, [&](Word& at) { change(at, LaunchBlock{number, i}); });
    };
    each(&Block::writes, [](Word& at, LaunchBlock) { at = {}; });
    each(&Block::reads, [&](Word& at, LaunchBlock) { at.is_fresh = false; });
    each(&Block::reads, [](Word& at, LaunchBlock by) { at.readers.insert(by); });
    each(&Block::writes, [](Word& at, LaunchBlock by) {
      at.writers.insert(by);
      at.is_fresh = true;
    });
  }
  void forget(char buffer) { memory_.erase(buffer); }
  std::map<LaunchPair, PairEdges> take() { return std::move(found_); }

 private:
  void meet(const Block& block, LaunchBlock by) {
    const auto wait = [&](const std::set<LaunchBlock>& masters, const char* hazard) {
      for (const auto& [launch, master] : masters) {
        PairEdges& pair = found_[{launch, by.first}];
        pair.hazards.insert(hazard);
        pair.edges.insert({master, by.second});
      }
    };
    for (const Bytes& bytes : block.reads)
      for_each_word(memory_, bytes, [&](Word& at) { wait(at.writers, "raw"); });
    for (const Bytes& bytes : block.writes) {
      for_each_word(memory_, bytes, [&](Word& at) {
        wait(at.readers, "war");
        if (at.is_fresh) wait(at.writers, "waw");
      });
    }
  }

  Memory memory_;
  std::map<LaunchPair, PairEdges> found_;
};

}  // namespace

std::map<LaunchPair, PairEdges> script_edges(const std::vector<Operation>& operations, int times,
                                             uint64_t first) {
  Reference reference;
  for (int time = 0; time < times; ++time) {
    for (const Operation& op : operations) {
      if (op.is_launch()) reference.launch(first++, blocks_of(op));
      if (op.name == "free") reference.forget(op.buffers[0]);
    }
  }
  return reference.take();
}

}  // namespace sluice::e2e
