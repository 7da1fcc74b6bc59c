// A random program of launches and host copies: its blocks, and the edges that the tracker drew.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "dro/random_launches.hpp"

namespace sluice::dro::testing {

constexpr size_t most_nodes = 640;

// Node is a block of a launch, or a host write.
struct Node {
  BlockTouch touch;
  uint64_t launch = 0;  // nodes of one launch have one number; the host's have their own
  bool adds = false;    // only adds to the bytes that it may write, in any order
  bool host = false;
};

using Row = std::bitset<most_nodes>;

// Graph holds, for each node, the nodes before it.
struct Graph {
  std::vector<Row> before;
  explicit Graph(size_t nodes) : before(nodes) {}

  // closed() holds all that is before a node at any distance. Edges lead from smaller numbers.
  Graph closed() const {
    Graph closure = *this;
    for (size_t node = 0; node < before.size(); ++node) {
      for (size_t other = 0; other < node; ++other) {
        if (before[node][other]) closure.before[node] |= closure.before[other];
      }
    }
    return closure;
  }
};

struct Program {
  std::vector<Node> nodes;  // in the program's order
  std::vector<Row> drawn;   // edges that the tracker found, by node
  uint64_t launches = 0, hits = 0;
};

// is_free_of_races() is true where the blocks of a launch may run in any order.
inline bool is_free_of_races(const TouchingLaunch& launch) {
  if (launch.footprint.kernel == "adds") return true;
  Bytes read_before, claimed_before;
  for (const BlockTouch& block : launch.blocks) {
    if ((block.claims() & (read_before | claimed_before)).any()) return false;
    if ((block.reads & claimed_before).any()) return false;
    read_before |= block.reads;
    claimed_before |= block.claims();
  }
  return true;
}

// ProgramRun draws a program and gives its launches and copies to a tracker.
class ProgramRun {
 public:
  explicit ProgramRun(uint32_t seed) : dice_(seed), generator_(dice_, buffers_) {}

  Program run() {
    const long count = dice_.pick(2, 6);
    for (long i = 0; i < count; ++i)
      add_buffer();
    for (int i = 0; i < 6; ++i)
      generator_.add_kernel(48);
    generator_.add_stencil_kernel();
    generator_.add_atomic_kernel(48);
    const long steps = dice_.pick(8, 40);
    for (long i = 0; i < steps; ++i) {
      const long kind = dice_.pick(0, 19);
      if (kind == 0) {
        replace_buffer();
      } else if (kind <= 3) {
        host_write();
      } else {
        launch();
      }
    }
    return std::move(program_);
  }

 private:
  static constexpr long buffer_bytes = 64;

  void add_buffer() {
    buffers_.push_back({driver_.buffer(buffer_bytes), buffer_bytes, next_byte_});
    next_byte_ += buffer_bytes;
  }

  // replace_buffer() frees a buffer and allocates another, whose bytes are its own.
  void replace_buffer() {
    if (next_byte_ + buffer_bytes > long(most_bytes)) return;
    const auto which = size_t(dice_.pick(0, long(buffers_.size()) - 1));
    driver_.tracker().buffer_destroyed(buffers_[which].id);
    follows_host_write_ = false;
    buffers_.erase(buffers_.begin() + long(which));
    past_.clear();
    add_buffer();
  }

  void host_write() {
    if (program_.nodes.size() + 1 > most_nodes) return;
    const RandomBuffer& buffer = buffers_[size_t(dice_.pick(0, long(buffers_.size()) - 1))];
    const long begin = dice_.pick(0, buffer.bytes - 8);
    const long end = dice_.pick(begin + 1, buffer.bytes);
    driver_.tracker().host_write(buffer.id, uint64_t(begin), uint64_t(end));
    const auto touches = [&](long byte) {
      return byte >= 0 && byte < buffer.bytes &&
             program_.nodes.back().touch.must_writes.test(size_t(buffer.first + byte));
    };
    // Writes that touch each other, with nothing between them, are one.
    bool is_more = false;
    for (long byte = begin - 1; byte <= end && follows_host_write_; ++byte)
      is_more = is_more || touches(byte);
    Node node;
    node.host = true;
    node.launch = next_launch_;
    Node& written = is_more ? program_.nodes.back() : node;
    for (long byte = begin; byte < end; ++byte)
      written.touch.must_writes.set(size_t(buffer.first + byte));
    follows_host_write_ = true;
    if (is_more) return;
    ++next_launch_;
    // The driver runs it after all that came before.
    Row all;
    for (size_t i = 0; i < program_.nodes.size(); ++i)
      all.set(i);
    host_nodes_.push_back(program_.nodes.size());
    program_.nodes.push_back(node);
    program_.drawn.push_back(all);
  }

  // next() is a launch without races, half of the time one that came before. None is found where
  // the kernels are of the wrong kind.
  std::optional<TouchingLaunch> next() {
    if (!past_.empty() && dice_.pick(0, 1) == 0) {
      return past_[size_t(dice_.pick(0, long(past_.size()) - 1))];
    }
    for (int tries = 0; tries < 50; ++tries) {
      TouchingLaunch launch = generator_.launch(16);
      if (!is_free_of_races(launch)) continue;
      past_.push_back(launch);
      return launch;
    }
    return std::nullopt;
  }

  void launch() {
    const auto drawn = next();
    if (!drawn) return;
    const TouchingLaunch& launch = *drawn;
    const size_t first = program_.nodes.size();
    if (first + launch.blocks.size() > most_nodes) return;
    follows_host_write_ = false;
    const auto found = driver_.launch(launch.footprint, launch.bound);
    first_node_.push_back(first);
    ++program_.launches;
    for (const BlockTouch& touch : launch.blocks) {
      program_.nodes.push_back({touch, next_launch_, launch.footprint.kernel == "adds", false});
      program_.drawn.emplace_back();
    }
    ++next_launch_;
    for (const Dependence& dependence : found) {
      program_.hits += dependence.hit ? 1 : 0;
      const EdgeTable& table = driver_.tracker().edge_table(dependence.dro->edges);
      for (uint32_t block = 0; block < launch.blocks.size(); ++block) {
        for (uint32_t master : masters_of(table, block))
          program_.drawn[first + block].set(first_node_[dependence.master - 1] + master);
      }
    }
    for (const HostDependence& dependence : driver_.tracker().host_dependences())
      draw_host(host_nodes_[dependence.number - 1], first, launch.blocks);
  }

  // draw_host() lets the blocks wait that the dependence is about. The launch waits as a whole, but
  // not by this graph.
  void draw_host(size_t host, size_t first, const std::vector<BlockTouch>& blocks) {
    bool any = false;
    for (size_t block = 0; block < blocks.size(); ++block) {
      if (!hazards_between(program_.nodes[host].touch, blocks[block]).any()) continue;
      program_.drawn[first + block].set(host);
      any = true;
    }
    EXPECT_TRUE(any);
  }

  Generator dice_;
  Driver driver_;
  std::vector<RandomBuffer> buffers_;
  LaunchGenerator generator_;
  Program program_;
  std::vector<TouchingLaunch> past_;  // over buffers that are there
  std::vector<size_t> first_node_;    // by launch
  std::vector<size_t> host_nodes_;    // by host write
  bool follows_host_write_ = false;   // the last node is one, with nothing after it
  uint64_t next_launch_ = 0;
  long next_byte_ = 0;
};

}  // namespace sluice::dro::testing
