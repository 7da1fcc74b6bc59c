// What a launch really touches, found by running every thread of a model in plain C++, and the
// same read out of a footprint's relations point by point.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "analysis/kernel_analysis.hpp"
#include "relation_text.hpp"

namespace sluice::analysis::testing {

using Block = std::array<int64_t, 3>;
using Bytes = std::set<int64_t>;
using BytesByBlock = std::map<Block, Bytes>;  // blocks that touch nothing have no entry

// Thread is what a model knows of the thread that it plays, and where it says what it touches.
struct Thread {
  Dim3 block, thread, grid_size, block_size;
  std::map<int, BytesByBlock>* reads = nullptr;
  std::map<int, BytesByBlock>* writes = nullptr;

  int x() const { return int(block.x * block_size.x + thread.x); }
  int y() const { return int(block.y * block_size.y + thread.y); }
  int z() const { return int(block.z * block_size.z + thread.z); }
  // argument counts the pointers of the kernel; index is in elements of `bytes`.
  void read(int argument, int64_t index, int64_t bytes = 4) {
    touch(*reads, argument, index, bytes);
  }
  void write(int argument, int64_t index, int64_t bytes = 4) {
    touch(*writes, argument, index, bytes);
  }
  void update(int argument, int64_t index, int64_t bytes = 4) {
    read(argument, index, bytes);
    write(argument, index, bytes);
  }

 private:
  void touch(std::map<int, BytesByBlock>& all, int argument, int64_t index, int64_t bytes) {
    Bytes& touched = all[argument][{block.x, block.y, block.z}];
    for (int64_t i = 0; i < bytes; ++i)
      touched.insert(index * bytes + i);
  }
};

using Model = std::function<void(Thread&)>;

struct Touched {
  std::map<int, BytesByBlock> reads;
  std::map<int, BytesByBlock> writes;
};

// run_model() plays every thread of the launch.
Touched run_model(const Dim3& grid, const Dim3& block, const Model& model);

// bytes_of() enumerates a relation; it fails the test where that is not bounded.
BytesByBlock bytes_of(const Relation& relation);

// kernels() is a .cu file of this folder as nvcc compiled it.
const ptx::Module& kernels(const std::string& file = "kernels");

// analysis_of() analyses a kernel of one of those files, or throws what went wrong. The kernel
// keeps it; fresh_analysis_of() is one that has seen no launch.
KernelAnalysis& analysis_of(const std::string& kernel);
std::unique_ptr<KernelAnalysis> fresh_analysis_of(const std::string& kernel);

// footprint_of() analyses a kernel for one shape; `shape` in the signature's order.
Footprint footprint_of(const std::string& kernel, const Dim3& grid, const Dim3& block,
                       std::vector<uint64_t> shape);

// expect_exact() compares reads and must-writes with what the model touches, byte for byte and
// block for block, and expects no may-writes.
void expect_exact(const std::string& kernel, const Dim3& grid, const Dim3& block,
                  std::vector<uint64_t> shape, const Model& model);

}  // namespace sluice::analysis::testing
