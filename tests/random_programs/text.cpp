// A program as text, to be read when it fails.
#include <fmt/format.h>

#include "random_programs/program.hpp"

namespace sluice::random_programs {
namespace {

constexpr const char* kernel_names[] = {
#define SLUICE_RANDOM_KERNEL(name, ...) #name,
#include "random_programs/kernels.def"
#undef SLUICE_RANDOM_KERNEL
};
constexpr const char* stream_names[] = {"legacy",        "own_of_first", "own_of_second",
                                        "blocking_a",    "blocking_b",   "non_blocking_a",
                                        "non_blocking_b"};
constexpr const char* space_names[] = {"device", "ordered",  "managed",
                                       "pinned", "pageable", "variable"};
constexpr const char* call_names[] = {"allocate",      "release",     "launch",      "graph",
                                      "copy",          "copy_rows",   "fill",        "fill_rows",
                                      "host_function", "hold",        "let_go",      "record",
                                      "wait",          "event_done",  "stream_done", "all_done",
                                      "poll",          "host_writes", "host_reads",  "new_stream"};

std::string words_of(const Program& program, const Place& place, const Step& step) {
  return fmt::format("{}{}[{}..{}]",
                     space_names[static_cast<size_t>(program.buffers[place.buffer].space)],
                     place.buffer, place.first, place.first + step.words);
}

}  // namespace

const char* name_of(Kernel kernel) {
  return kernel_names[static_cast<size_t>(kernel)];
}

std::string text(const Program& program) {
  std::string all = fmt::format("seed {}\n", program.seed);
  for (const Step& step : program.steps) {
    all += fmt::format("  thread {} {:<14} {:<13}", step.thread, stream_names[step.stream],
                       call_names[static_cast<size_t>(step.call)]);
    if (step.call == Call::launch) {
      all += fmt::format(" {} block {}", name_of(step.kernel), step.block);
    }
    if (step.words != 0) all += " to " + words_of(program, step.to, step);
    if (step.call == Call::launch || step.call == Call::copy || step.call == Call::copy_rows) {
      all += " from " + words_of(program, step.from, step);
    }
    if (step.rows > 0 && step.pitch > 0) all += fmt::format(" x {} / {}", step.rows, step.pitch);
    all += fmt::format(" number {} form {}{}\n", step.number, static_cast<int>(step.form),
                       step.waits ? " waits" : "");
  }
  return all;
}

}  // namespace sluice::random_programs
