// The same questions answered by enumeration: explicit sets of bytes for each block.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dro/handwritten.hpp"

namespace sluice::dro::testing {

// BlockBytes holds, for each linear block, the bytes that it touches.
using BlockBytes = std::vector<std::set<long>>;

// RandomAccess is one access, as relation text for the tracker and as bytes for enumeration.
struct RandomAccess {
  std::string relation;
  BlockBytes bytes;
};

// RandomArgument is all that a launch does through one argument.
struct RandomArgument {
  BlockBytes reads;
  BlockBytes may_writes;
  BlockBytes must_writes;
};

struct RandomKernel {
  Footprint footprint;
  std::vector<RandomArgument> arguments;
};

// Generator makes kernels over small grids with strided, affine, tiled and whole accesses.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  long pick(long first, long last) {
    return std::uniform_int_distribution<long>(first, last)(random_);
  }

  RandomKernel kernel(size_t arguments, long bytes) {
    RandomKernel made;
    const Dim3 grid = {static_cast<uint32_t>(pick(1, 4)), static_cast<uint32_t>(pick(1, 3)), 1};
    made.footprint.kernel = "random";
    made.footprint.shape.grid = grid;
    for (size_t i = 0; i < arguments; ++i) {
      ArgumentFootprint text;
      RandomArgument sets;
      add(pick(0, 9) < 6, grid, bytes, text.reads, sets.reads);
      add(pick(0, 9) < 2, grid, bytes, text.may_writes, sets.may_writes);
      add(pick(0, 9) < 5, grid, bytes, text.must_writes, sets.must_writes);
      made.footprint.arguments.push_back(text);
      made.arguments.push_back(sets);
    }
    return made;
  }

 private:
  void add(bool present, const Dim3& grid, long bytes, Access& text, BlockBytes& sets) {
    sets.assign(grid.count(), {});
    if (!present) return;
    const RandomAccess made = access(grid, bytes);
    text = exact(made.relation);
    sets = made.bytes;
  }

  // access() is { o = a x + b y + c i + d + e : 0 <= i < n, 0 <= e < width }, under a random
  // guard, within [0, bytes).
  RandomAccess access(const Dim3& grid, long bytes) {
    const long a = pick(-2, 6), b = pick(-2, 8), c = pick(0, 7), d = pick(0, bytes / 2);
    const long n = pick(1, 3), width = pick(1, 4), guard = pick(0, 3), modulus = pick(2, 3);
    const char* guards[] = {"x >= 0", "x + y >= 1", "x < 2 or y > 0", "x mod "};
    std::string condition = guards[guard];
    if (guard == 3) condition = "(x + y) mod " + std::to_string(modulus) + " = 0";
    const std::string base = std::to_string(a) + "x + " + std::to_string(b) + "y + " +
                             std::to_string(c) + "i + " + std::to_string(d);
    RandomAccess made;
    made.relation = "{ B[x, y, z] -> A[o] : exists i : 0 <= x < " + std::to_string(grid.x) +
                    " and 0 <= y < " + std::to_string(grid.y) + " and z = 0 and 0 <= i < " +
                    std::to_string(n) + " and (" + condition + ") and " + base + " <= o < " + base +
                    " + " + std::to_string(width) + " and 0 <= o < " + std::to_string(bytes) + " }";
    for (long y = 0; y < grid.y; ++y) {
      for (long x = 0; x < grid.x; ++x) {
        std::set<long>& set = made.bytes.emplace_back();
        const bool holds[] = {true, x + y >= 1, x < 2 || y > 0, (x + y) % modulus == 0};
        if (!holds[guard]) continue;
        for (long i = 0; i < n; ++i) {
          for (long e = 0; e < width; ++e) {
            const long o = a * x + b * y + c * i + d + e;
            if (o >= 0 && o < bytes) set.insert(o);
          }
        }
      }
    }
    return made;
  }

  std::mt19937 random_;
};

// FlatLaunch is a launch over all buffers: bytes are (buffer, offset).
using FlatByte = std::pair<BufferId, long>;
struct FlatLaunch {
  std::vector<std::set<FlatByte>> reads;
  std::vector<std::set<FlatByte>> claims;  // may- and must-writes
  std::set<FlatByte> must_writes;          // of all blocks
};

inline FlatLaunch flatten(const RandomKernel& kernel, const std::vector<BoundArgument>& bound) {
  const size_t blocks = kernel.footprint.shape.grid.count();
  FlatLaunch flat;
  flat.reads.resize(blocks);
  flat.claims.resize(blocks);
  for (size_t i = 0; i < bound.size(); ++i) {
    const auto place = [&](long o) { return FlatByte{bound[i].buffer, o + long(bound[i].offset)}; };
    for (size_t block = 0; block < blocks; ++block) {
      for (long o : kernel.arguments[i].reads[block])
        flat.reads[block].insert(place(o));
      for (long o : kernel.arguments[i].may_writes[block])
        flat.claims[block].insert(place(o));
      for (long o : kernel.arguments[i].must_writes[block]) {
        flat.claims[block].insert(place(o));
        flat.must_writes.insert(place(o));
      }
    }
  }
  return flat;
}

template <class Set>
bool meet(const Set& a, const Set& b) {
  for (const auto& item : a) {
    if (b.count(item) != 0) return true;
  }
  return false;
}

}  // namespace sluice::dro::testing
