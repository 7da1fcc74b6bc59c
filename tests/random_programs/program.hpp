// A random CUDA program as data: a list of calls with all they need, free of races by the rules of
// CUDA alone, so that whoever runs it gets the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::random_programs {

// The streams of a program. The default streams of the two threads that make its calls can only be
// used by the thread they belong to.
enum Stream : uint8_t {
  legacy,
  own_of_first,
  own_of_second,
  blocking_a,
  blocking_b,
  non_blocking_a,
  non_blocking_b
};
constexpr size_t stream_count = 7;
constexpr size_t event_count = 4;
constexpr uint32_t words_most = 1024;     // of a buffer
constexpr uint32_t variable_words = 512;  // of the module's variable

enum class Space : uint8_t {
  device,    // cuMemAlloc
  ordered,   // cuMemAllocAsync
  managed,   // cuMemAllocManaged
  pinned,    // host memory that kernels may use
  pageable,  // host memory that only copies and the host use
  variable,  // of the module
};

struct Buffer {
  Space space = Space::device;
  uint32_t words = 0;
};

enum class Kernel : uint8_t {
#define SLUICE_RANDOM_KERNEL(name, ...) name,
#include "random_programs/kernels.def"
#undef SLUICE_RANDOM_KERNEL
};

// How a call is made, where CUDA offers several ways.
enum class Form : uint8_t { plain, other, third, fourth };

enum class Call : uint8_t {
  allocate,  // to
  release,   // to; form other: in the order of the stream
  launch,    // kernel on to, from
  // Capture the `number` launches, copies and fills that follow, and launch the graph once or
  // often; form other: and again; third: and after each of some changes of its nodes' numbers, set
  // in the executable graph; fourth: the same, updated from another graph.
  graph,
  copy,           // words from `from` to `to`
  copy_rows,      // the same as rows of a box
  fill,           // words of `to`; form fourth: one is written and waited for before
  fill_rows,      // the same as rows of a box
  host_function,  // works on words of `to`, in the order of the stream
  hold,           // a host function that waits for let_go of the same number
  let_go,         // number
  record,         // event, on the stream
  wait,           // the stream waits for the event
  event_done,     // the host waits for the event
  stream_done,    // the host waits for the stream
  all_done,       // the host waits for everything
  poll,           // a kernel raises a flag on the stream, which the host polls
  host_writes,    // words of `to`
  host_reads,     // words of `to`, noted as an answer
  new_stream,     // the stream is destroyed and made again
};

struct Place {
  uint32_t buffer = 0;
  uint32_t first = 0;  // word
};

// Step is one call; fields that its call does not need are zero.
struct Step {
  Call call = Call::all_done;
  Form form = Form::plain;
  Kernel kernel = Kernel::map;
  Stream stream = legacy;
  uint8_t thread = 0;  // that makes the call
  bool waits = false;  // the synchronous form of a copy or fill
  uint8_t number = 0;  // of an event, a hold or a buffer's length in steps
  Place to;
  Place from;
  uint32_t words = 0;
  uint32_t rows = 0;
  uint32_t pitch = 0;  // words between rows
  uint32_t block = 0;
  uint32_t salt = 0;
};

struct Program {
  uint64_t seed = 0;
  std::vector<Buffer> buffers;  // number 0 is the module's variable
  std::vector<Step> steps;
};

// The names of what stands in a program; text() is the whole program, one call a line.
const char* name_of(Kernel kernel);
std::string text(const Program& program);

// make_program() draws a program; the same seed gives the same program.
Program make_program(uint64_t seed);

}  // namespace sluice::random_programs
