#include "comparison.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "hostcuda/jit/block_compiler.hpp"
#include "interpreter/interpreter.hpp"
#include "nest_text.hpp"
#include "ptx/parser.hpp"

namespace sluice::nests {
namespace {

constexpr uint64_t most_steps = 3'000'000;

using Bytes = std::vector<std::byte>;

// Contents are the buffers of a launch, by Buffer.
std::vector<Bytes> first_contents(const Nest& nest) {
  std::vector<Bytes> all(size_t(Buffer::count), Bytes(4 * elements));
  const auto put = [&](Buffer buffer, int64_t element, auto value) {
    static_assert(sizeof(value) == 4);
    std::memcpy(all[size_t(buffer)].data() + 4 * element, &value, 4);
  };
  for (int64_t i = 0; i < elements; ++i) {
    put(Buffer::numbers, i, int32_t(uint64_t(i + 1) * 0x9e3779b97f4a7c15 >> 59));
    put(Buffer::fractions, i, float(i % 1009) * 0.125f);
    put(Buffer::sums, i, int32_t(-1));
    put(Buffer::products, i, -1.0f);
    put(Buffer::columns, i, int32_t(i));
  }
  all[size_t(Buffer::results)].assign(
      4 * nest.grid.count() * nest.block.count() * (nest.variables + 2), std::byte{0xee});
  all[size_t(Buffer::tallies)].assign(64, std::byte{0});
  return all;
}

Bytes parameters_of(const Nest& nest, const std::vector<Bytes>& contents) {
  Bytes bytes(8 * contents.size() + 4 * nest.scalars.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    const auto address = uint64_t(contents[i].data());
    std::memcpy(bytes.data() + 8 * i, &address, 8);
  }
  std::memcpy(bytes.data() + 8 * contents.size(), nest.scalars.data(), 4 * nest.scalars.size());
  return bytes;
}

constexpr const char* names[] = {"numbers", "fractions", "sums",   "products",
                                 "columns", "results",   "tallies"};

std::string first_difference(const std::vector<Bytes>& device,
                             const interpreter::GlobalMemory& right) {
  for (size_t i = 0; i < device.size(); ++i) {
    for (size_t at = 0; at < device[i].size(); at += 4) {
      uint32_t words[2];
      std::memcpy(&words[0], device[i].data() + at, 4);
      std::memcpy(&words[1], right.buffer(i).data() + at, 4);
      if (words[0] == words[1]) continue;
      return fmt::format("{}[{}]: the CPU device has {:#x}, {:#x} is right", names[i], at / 4,
                         words[0], words[1]);
    }
  }
  return {};
}

// run_compiled() changes the contents; an error's line where it could not.
std::string run_compiled(const Nest& nest, ptx::Module module, const Bytes& parameters) {
  auto compiled = hostcuda::CompiledModule::create(std::move(module));
  if (!compiled) return compiled.error().line();
  const auto code = (*compiled)->block_code(kernel_name, nest.block, 0);
  if (!code) return code.error().line();
  const SluiceBlockLaunch launch = {
      parameters.data(), {nest.grid.x, nest.grid.y, nest.grid.z}, 0, 0};
  const uint64_t bytes = (code->scratch_bytes + 127) / 64 * 64;
  std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
  // Nothing may rely on what scratch memory holds at first.
  std::memset(scratch.get(), 0xa5, bytes);
  code->function(&launch, 0, uint32_t(nest.grid.count()), scratch.get());
  return {};
}

// Run is what it takes to run a nest.
struct Run {
  explicit Run(const Nest& of) : nest(of), module(ptx::parse(ptx_of(of), "nest.ptx")) {
    contents = first_contents(nest);
    parameters = parameters_of(nest, contents);
  }

  Status interpret(interpreter::GlobalMemory& memory, bool last_thread_first) const {
    if (!module) return tl::unexpected(module.error());
    const auto code = interpreter::decode(*module, kernel_name);
    if (!code) return tl::unexpected(code.error());
    for (const Bytes& buffer : first_contents(nest))
      memory.add(uint64_t(contents[memory.size()].data()), buffer);
    return interpreter::run(
        *code, {nest.grid, nest.block, parameters, most_steps, last_thread_first}, memory);
  }

  // Whether the last thread first leaves something else in memory than this.
  bool differs_backwards(const interpreter::GlobalMemory& memory) const {
    interpreter::GlobalMemory other;
    bool differs = !interpret(other, true);
    for (size_t i = 0; i < contents.size(); ++i)
      differs = differs || other.buffer(i) != memory.buffer(i);
    return differs;
  }

  const Nest& nest;
  Result<ptx::Module> module;
  std::vector<Bytes> contents;  // of the device's memory
  Bytes parameters;
};

}  // namespace

Verdict compare(const Nest& nest) {
  Run run(nest);
  interpreter::GlobalMemory memory;
  if (const Status status = run.interpret(memory, false); !status) {
    if (status.error().kind == ErrorKind::unsupported) return {.fits = false};
    return {.difference = status.error().line()};
  }
  const std::string problem = run_compiled(nest, *run.module, run.parameters);
  if (!problem.empty()) return {.difference = problem};
  Verdict verdict{.difference = first_difference(run.contents, memory)};
  verdict.races = !verdict.difference.empty() && run.differs_backwards(memory);
  return verdict;
}

bool races(const Nest& nest) {
  const Run run(nest);
  interpreter::GlobalMemory memory;
  return run.interpret(memory, false) && run.differs_backwards(memory);
}

std::string description(const Nest& nest) {
  std::string scalars;
  for (const int32_t scalar : nest.scalars)
    scalars += fmt::format(" {}", scalar);
  return fmt::format("seed {}, grid {}, block {} x {} x {}, scalars{}\n{}", nest.seed, nest.grid.x,
                     nest.block.x, nest.block.y, nest.block.z, scalars, ptx_of(nest));
}

}  // namespace sluice::nests
