// Random programs, each right and with one change: a barrier or an event's wait left out, an index
// shifted by one, a buffer shortened. `mutations SEED COUNT` runs them and prints for each kernel
// what a scalar model says of it: "k7m fault" or "k7r right".
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <cuda.h>

namespace {

std::mt19937 random_bits;

uint32_t any(uint32_t low, uint32_t high) {
  return low + static_cast<uint32_t>(random_bits() % (high - low + 1));
}

void must(CUresult result) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "error %d\n", static_cast<int>(result));
  std::exit(3);
}

CUfunction load(const std::string& name, const std::string& body) {
  const std::string text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry " + name +
      "(.param .u64 to, .param .u64 from, .param .u64 list)\n{\n.reg .pred %p<4>;\n"
      ".reg .b32 %r<16>;\n.reg .b64 %d<16>;\n" +
      body + "ret;\n}\n";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  must(cuModuleLoadData(&module, text.c_str()));
  must(cuModuleGetFunction(&function, module, name.c_str()));
  return function;
}

// An index (factor * thread + summand) modulo the count, and what a change adds to it.
struct Index {
  uint32_t factor = 1, summand = 0, shift = 0;
  uint32_t of(uint32_t thread, uint32_t count) const {
    return (factor * thread + summand) % count + shift;
  }
  // The byte offset goes to %r3; the thread is %r1.
  std::string code(uint32_t count) const {
    return "mad.lo.u32 %r3, %r1, " + std::to_string(factor) + ", " + std::to_string(summand) +
           ";\nrem.u32 %r3, %r3, " + std::to_string(count) + ";\nadd.u32 %r3, %r3, " +
           std::to_string(shift) + ";\nshl.b32 %r3, %r3, 2;\n";
  }
};

// A factor that has no divisor in common with the count gives each thread an element of its own.
Index random_index(uint32_t count) {
  uint32_t factor = any(1, count - 1);
  while (std::gcd(factor, count) != 1)
    factor = any(1, count - 1);
  return {factor, any(0, count - 1)};
}

struct Step {
  enum class Kind { barrier, reads, writes } kind;
  Index index;
};

// BlockProgram is one block whose threads exchange values in shared memory and fetch one by a list.
struct BlockProgram {
  uint32_t threads = 0;
  std::vector<Step> steps;
  Index listed;             // of the list's entries
  uint32_t from_count = 0;  // elements that the list's entries lead to

  static BlockProgram any_right() {
    BlockProgram program;
    program.threads = any(3, 150);
    program.steps.push_back({Step::Kind::writes, {}});
    for (uint32_t exchange = any(1, 4); exchange != 0; --exchange) {
      program.steps.push_back({Step::Kind::barrier, {}});
      for (uint32_t reads = any(1, 3); reads != 0; --reads)
        program.steps.push_back({Step::Kind::reads, random_index(program.threads)});
      program.steps.push_back({Step::Kind::barrier, {}});
      program.steps.push_back({Step::Kind::writes, random_index(program.threads)});
    }
    program.listed = random_index(program.threads);
    program.from_count = program.threads;
    return program;
  }

  void change() {
    switch (any(0, 3)) {
      case 0: {
        std::vector<size_t> barriers;
        for (size_t i = 0; i < steps.size(); ++i)
          if (steps[i].kind == Step::Kind::barrier) barriers.push_back(i);
        steps.erase(steps.begin() +
                    static_cast<std::ptrdiff_t>(barriers[random_bits() % barriers.size()]));
        break;
      }
      case 1: {
        Step* step = &steps[random_bits() % steps.size()];
        while (step->kind == Step::Kind::barrier)
          step = &steps[random_bits() % steps.size()];
        step->index.shift = 1;
        break;
      }
      case 2:
        listed.shift = 1;
        break;
      default:
        --from_count;
    }
  }

  bool is_wrong() const {
    for (uint32_t thread = 0; thread < threads; ++thread)
      if (listed.of(thread, threads) >= from_count) return true;
    std::vector<std::set<uint32_t>> readers(threads), writers(threads);
    std::vector<bool> written(threads, false);
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::barrier) {
        readers.assign(threads, {});
        writers.assign(threads, {});
        continue;
      }
      for (uint32_t thread = 0; thread < threads; ++thread) {
        const uint32_t at = step.index.of(thread, threads);
        if (at >= threads) return true;
        const auto has_other = [&](const std::set<uint32_t>& those) {
          return those.size() > (those.contains(thread) ? 1U : 0U);
        };
        const bool writes = step.kind == Step::Kind::writes;
        if (has_other(writers[at]) || (writes && has_other(readers[at]))) return true;
        if (!writes && !written[at]) return true;
        (writes ? writers : readers)[at].insert(thread);
        if (writes) written[at] = true;
      }
    }
    return false;
  }

  std::string code() const {
    std::string text = ".shared .align 4 .b8 kept[" + std::to_string(4 * threads) +
                       "];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 1;\nmov.u32 %r4, kept;\n";
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::barrier) {
        text += "bar.sync 0;\n";
        continue;
      }
      text += step.index.code(threads) + "add.u32 %r3, %r3, %r4;\n";
      text += step.kind == Step::Kind::writes
                  ? "st.shared.u32 [%r3], %r2;\n"
                  : "ld.shared.u32 %r5, [%r3];\nmad.lo.u32 %r2, %r5, 3, %r2;\n";
    }
    text +=
        "ld.param.u64 %d1, [to];\nld.param.u64 %d2, [from];\nld.param.u64 %d3, [list];\n"
        "mul.wide.u32 %d4, %r1, 4;\nadd.u64 %d3, %d3, %d4;\nld.global.u32 %r6, [%d3];\n"
        "mul.wide.u32 %d5, %r6, 4;\nadd.u64 %d2, %d2, %d5;\nld.global.u32 %r7, [%d2];\n"
        "add.u32 %r7, %r7, %r2;\nadd.u64 %d1, %d1, %d4;\nst.global.u32 [%d1], %r7;\n";
    return text;
  }

  void run(const std::string& name) const {
    std::vector<uint32_t> list(threads);
    for (uint32_t thread = 0; thread < threads; ++thread)
      list[thread] = listed.of(thread, threads);
    CUdeviceptr to = 0, from = 0, entries = 0;
    must(cuMemAlloc(&to, 4 * threads));
    must(cuMemAlloc(&from, 4 * from_count));
    must(cuMemsetD32(from, 5, from_count));
    must(cuMemAlloc(&entries, 4 * threads));
    must(cuMemcpyHtoD(entries, list.data(), 4 * threads));
    void* arguments[] = {&to, &from, &entries};
    must(
        cuLaunchKernel(load(name, code()), 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
    must(cuCtxSynchronize());
    for (const CUdeviceptr buffer : {to, from, entries})
      must(cuMemFree(buffer));
  }
};

// StreamProgram is launches of several streams, each of which reads a buffer and writes another,
// with an event between any two that have to be in order.
struct StreamProgram {
  struct Launch {
    uint32_t stream = 0, from = 0, to = 0;
    std::vector<size_t> after;  // that it waits for, each by an event
  };
  static constexpr uint32_t streams = 3, buffers = 4;
  std::vector<Launch> launches;

  bool has_conflict(const Launch& a, const Launch& b) const {
    return a.to == b.to || a.to == b.from || a.from == b.to;
  }

  // ordered() is which launches come before which, by streams and events.
  std::vector<std::vector<bool>> ordered() const {
    std::vector<std::vector<bool>> before(launches.size(),
                                          std::vector<bool>(launches.size(), false));
    for (size_t later = 0; later < launches.size(); ++later) {
      const auto add = [&](size_t earlier) {
        before[earlier][later] = true;
        for (size_t first = 0; first < earlier; ++first)
          if (before[first][earlier]) before[first][later] = true;
      };
      for (size_t earlier = 0; earlier < later; ++earlier)
        if (launches[earlier].stream == launches[later].stream) add(earlier);
      for (const size_t earlier : launches[later].after)
        add(earlier);
    }
    return before;
  }

  bool is_wrong() const {
    const auto before = ordered();
    for (size_t later = 0; later < launches.size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier)
        if (has_conflict(launches[earlier], launches[later]) && !before[earlier][later])
          return true;
    return false;
  }

  static StreamProgram any_right() {
    StreamProgram program;
    for (uint32_t count = any(3, 8); count != 0; --count) {
      const uint32_t from = any(0, buffers - 1);
      program.launches.push_back(
          {any(0, streams - 1), from, (from + any(1, buffers - 1)) % buffers, {}});
      Launch& last = program.launches.back();
      for (size_t earlier = program.launches.size() - 1; earlier-- > 0;) {
        const bool has_to_wait = program.has_conflict(program.launches[earlier], last);
        if (has_to_wait && !program.ordered()[earlier].back()) last.after.push_back(earlier);
      }
    }
    return program;
  }

  void change() {
    std::vector<std::pair<size_t, size_t>> waits;
    for (size_t i = 0; i < launches.size(); ++i)
      for (size_t at = 0; at < launches[i].after.size(); ++at)
        waits.emplace_back(i, at);
    if (waits.empty()) return;
    const auto [launch, at] = waits[random_bits() % waits.size()];
    launches[launch].after.erase(launches[launch].after.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void run(const std::string& name) const {
    const CUfunction function =
        load(name,
             "ld.param.u64 %d1, [to];\nld.param.u64 %d2, [from];\nmov.u32 %r1, %tid.x;\n"
             "mul.wide.u32 %d4, %r1, 4;\nadd.u64 %d1, %d1, %d4;\nadd.u64 %d2, %d2, %d4;\n"
             "ld.global.u32 %r2, [%d2];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%d1], %r2;\n");
    constexpr uint32_t threads = 32;
    CUdeviceptr memory[buffers], list = 0;
    CUstream order[streams];
    for (CUdeviceptr& buffer : memory) {
      must(cuMemAlloc(&buffer, 4 * threads));
      must(cuMemsetD32(buffer, 1, threads));
    }
    for (CUstream& stream : order)
      must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    must(cuCtxSynchronize());
    std::vector<CUevent> events(launches.size());
    for (size_t i = 0; i < launches.size(); ++i) {
      const Launch& one = launches[i];
      CUdeviceptr to = memory[one.to], from = memory[one.from];
      for (const size_t earlier : one.after)
        must(cuStreamWaitEvent(order[one.stream], events[earlier], 0));
      void* arguments[] = {&to, &from, &list};
      must(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, order[one.stream], arguments,
                          nullptr));
      must(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
      must(cuEventRecord(events[i], order[one.stream]));
    }
    must(cuCtxSynchronize());
    for (const CUdeviceptr buffer : memory)
      must(cuMemFree(buffer));
    for (const CUstream stream : order)
      must(cuStreamDestroy(stream));
    for (const CUevent event : events)
      must(cuEventDestroy(event));
  }
};

template <class Program>
void run_both(uint32_t number) {
  Program program = Program::any_right();
  for (const char* form : {"r", "m"}) {
    if (*form == 'm') program.change();
    const std::string name = "k" + std::to_string(number) + form;
    std::printf("%s %s\n", name.c_str(), program.is_wrong() ? "fault" : "right");
    program.run(name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  random_bits.seed(static_cast<uint32_t>(std::atoi(argv[1])));
  must(cuInit(0));
  CUcontext context = nullptr;
  must(cuDevicePrimaryCtxRetain(&context, 0));
  must(cuCtxSetCurrent(context));
  const auto count = static_cast<uint32_t>(std::atoi(argv[2]));
  for (uint32_t number = 0; number < count; ++number) {
    if (any(0, 2) == 0) {
      run_both<StreamProgram>(number);
    } else {
      run_both<BlockProgram>(number);
    }
  }
}
