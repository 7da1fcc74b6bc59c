#include "traced_run.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "byte_collector.hpp"
#include "hostcuda/jit/block_compiler.hpp"
#include "ptx/parser.hpp"
#include "ptx_text.hpp"

namespace sluice::analysis::random {
namespace {

constexpr int64_t largest_buffer = int64_t{1} << 22;
constexpr int64_t alignment = 256;

// Buffer is memory for all that a launch touches through one pointer.
struct Buffer {
  std::vector<std::byte> memory;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t pointer = 0;  // the argument's value
  ByteCollector reads, writes;

  // make() is false where the bytes are too far apart.
  bool make(const Parameter& parameter, int64_t low, int64_t high) {
    low = -((-low + alignment - 1) / alignment * alignment);
    if (low < -largest_buffer || high > largest_buffer) return false;
    memory.resize(size_t(high - low + alignment));
    const auto address = uint64_t(memory.data());
    begin = (address + alignment - 1) / alignment * alignment;
    end = begin + uint64_t(high - low);
    pointer = begin - uint64_t(low);
    for (int64_t offset = low; parameter.data && offset < high; ++offset)
      memory[size_t(pointer - address + uint64_t(offset))] = std::byte{data_byte(offset)};
    return true;
  }
};

class Run {
 public:
  Run(const Kernel& kernel, const Effects& effects) : kernel_(kernel), effects_(effects) {}

  TracedRun run(const std::string& ptx) {
    if (!make_buffers()) return result_;
    result_.ran = true;
    auto parsed = ptx::parse(ptx);
    if (!parsed) return problem(parsed.error().line());
    auto module = hostcuda::CompiledModule::create(std::move(*parsed));
    if (!module) return problem(module.error().line());
    const auto facts = (*module)->facts(kernel_name);
    const auto code =
        (*module)->block_code(kernel_name, kernel_.block, 0, hostcuda::CodeVariant::traced);
    if (!facts || !code) return problem((facts ? code.error() : facts.error()).line());
    const Dim3& grid = kernel_.grid;
    const std::vector<std::byte> parameters = parameter_block(facts->parameter_bytes);
    const SluiceBlockLaunch launch = {parameters.data(), {grid.x, grid.y, grid.z}, 0};
    const SluiceAccessSink sink = {&Run::hear, this};
    std::vector<std::byte> scratch(code->scratch_bytes + 64);
    void* aligned = reinterpret_cast<void*>((uint64_t(scratch.data()) + 63) / 64 * 64);
    hostcuda::set_access_sink(&sink);
    for (uint32_t block = 0; block < grid.count(); ++block) {
      code->function(&launch, block, 1, aligned);
      compare(block);
    }
    hostcuda::set_access_sink(nullptr);
    return result_;
  }

 private:
  TracedRun& problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
    return result_;
  }

  bool make_buffers() {
    buffers_.resize(kernel_.parameters.size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      int64_t low = 0, high = 1;
      for (const auto& block : effects_.blocks) {
        for (const ByteRuns* runs : {&block[i].reads, &block[i].writes}) {
          if (runs->empty()) continue;
          low = std::min(low, runs->front().begin);
          high = std::max(high, runs->back().end);
        }
      }
      const Parameter& parameter = kernel_.parameters[i];
      if (parameter.pointer && !buffers_[i].make(parameter, low, high)) return false;
    }
    return true;
  }

  std::vector<std::byte> parameter_block(uint32_t bytes) const {
    std::vector<std::byte> block(bytes + 8);
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Parameter& parameter = kernel_.parameters[i];
      const uint64_t value = parameter.pointer ? buffers_[i].pointer : parameter.value;
      const size_t size = parameter.pointer || bits_of(parameter.type) == 64 ? 8 : 4;
      std::memcpy(block.data() + parameter.offset, &value, size);
    }
    return block;
  }

  // hear() leaves out what lies in no buffer: the block's own memory.
  static void hear(void* recorder, uint64_t address, uint64_t bytes, uint32_t kind, uint32_t) {
    for (Buffer& buffer : static_cast<Run*>(recorder)->buffers_) {
      if (address < buffer.begin || address >= buffer.end) continue;
      const auto first = int64_t(address - buffer.pointer), end = first + int64_t(bytes);
      if ((kind & SLUICE_ACCESS_READ) != 0) buffer.reads.add(first, end);
      if ((kind & SLUICE_ACCESS_WRITE) != 0) buffer.writes.add(first, end);
    }
  }

  void compare(uint32_t block) {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Touched& touched = effects_.blocks[block][i];
      compare(block, i, "reads", buffers_[i].reads.take(), touched.reads);
      compare(block, i, "writes", buffers_[i].writes.take(), touched.writes);
    }
  }

  void compare(uint32_t block, size_t parameter, const char* what, const ByteRuns& traced,
               const ByteRuns& expected) {
    if (traced == expected) return;
    const auto text = [](const ByteRuns& runs) {
      std::string all;
      for (const Range& run : runs)
        all += fmt::format(" [{}, {})", run.begin, run.end);
      return all;
    };
    problem(fmt::format("block {} {} of {}+{}: traced{}, expected{}", block, what,
                        kernel_.parameters[parameter].name, kernel_.parameters[parameter].field,
                        text(traced), text(expected)));
  }

  const Kernel& kernel_;
  const Effects& effects_;
  TracedRun result_;
  std::vector<Buffer> buffers_;  // by parameter
};

}  // namespace

TracedRun run_traced(const Kernel& kernel, const std::string& ptx, const Effects& effects) {
  return Run(kernel, effects).run(ptx);
}

}  // namespace sluice::analysis::random
