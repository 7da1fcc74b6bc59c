#include "random_programs/generator.hpp"

#include <algorithm>
#include <utility>

namespace sluice::random_programs {
namespace {

bool on_device(Space space) {
  return space == Space::device || space == Space::ordered || space == Space::managed;
}
bool for_kernels(Space space) {
  return on_device(space) || space == Space::pinned;
}
bool on_host(Space space) {
  return space == Space::pinned || space == Space::pageable;
}
bool for_host(Space space) {
  return on_host(space) || space == Space::managed;
}
bool of_runtime(Space space) {
  return space == Space::device || space == Space::ordered;
}
bool for_copies(Space space) {
  return space != Space::variable;
}

struct Effects {
  bool reads_in, reads_out, reads_variable, writes_out, writes_variable;
};
constexpr Effects effects[] = {
#define SLUICE_RANDOM_KERNEL(name, ...) {__VA_ARGS__},
#include "random_programs/kernels.def"
#undef SLUICE_RANDOM_KERNEL
};

// Few lengths, so that footprints and compiled code of one program serve the next.
constexpr uint32_t lengths[] = {64, 160, 333, 512};

}  // namespace

Program make_program(uint64_t seed) {
  return Generator(seed).make();
}

Generator::Generator(uint64_t seed) : dice_(seed) {
  program_.seed = seed;
  program_.buffers.push_back({Space::variable, variable_words});
  accesses_.emplace_back();
  alive_.push_back(true);
}

Program Generator::make() {
  const uint32_t buffers = 3 + below(3);
  for (uint32_t i = 0; i < buffers; ++i)
    add_buffer();
  current_ = any_stream();
  if (chance(70)) add_hold();
  const uint32_t calls = 5 + below(25);
  for (uint32_t i = 0; i < calls; ++i) {
    if (chance(12)) current_ = any_stream();
    // Nothing is held back for a thread's own stream, so they need fewer calls.
    if (thread_owns(current_) && chance(30)) current_ = any_stream();
    const uint32_t kind = below(100);
    if (kind < 40) {
      add_launches();
    } else if (kind < 50) {
      add_copy();
    } else if (kind < 57) {
      add_fill();
    } else if (kind < 61) {
      add_host_function();
    } else if (kind < 68) {
      add_hold();
    } else if (kind < 74) {
      add_wait();
    } else if (kind < 79) {
      add_synchronisation();
    } else if (kind < 83) {
      add_host_access();
    } else if (kind < 88) {
      add_buffer();
    } else if (kind < 92) {
      release_buffer();
    } else if (kind < 95) {
      add_poll();
    } else if (kind < 98) {
      add_graph();
    } else {
      add_new_stream();
    }
  }
  know_all();
  return std::move(program_);
}

bool Generator::thread_owns(Stream stream) {
  return stream == own_of_first || stream == own_of_second;
}

uint8_t Generator::thread_for(Stream stream) {
  if (stream == own_of_first) return 0;
  if (stream == own_of_second) return 1;
  return chance(85) ? 0 : 1;
}

bool Generator::pick(bool (*fits)(Space), uint32_t words, Place& place) {
  std::vector<uint32_t> fitting;
  for (uint32_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (alive_[i] && fits(buffer.space) && buffer.words >= words) fitting.push_back(i);
  }
  if (fitting.empty()) return false;
  place.buffer = fitting[below(static_cast<uint32_t>(fitting.size()))];
  const uint32_t room = program_.buffers[place.buffer].words - words;
  place.first = chance(60) ? 0 : below(room + 1);
  return true;
}

// pick_two() finds two ranges of `step.words` that do not overlap.
bool Generator::pick_two(bool (*to)(Space), bool (*from)(Space), Step& step) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (!pick(to, step.words, step.to) || !pick(from, step.words, step.from)) return false;
    const bool overlap = step.to.buffer == step.from.buffer &&
                         step.to.first < step.from.first + step.words &&
                         step.from.first < step.to.first + step.words;
    if (!overlap) return true;
  }
  return false;
}

void Generator::add_buffer() {
  constexpr Space spaces[] = {Space::device,  Space::device, Space::device,  Space::ordered,
                              Space::ordered, Space::pinned, Space::managed, Space::pageable};
  const Space space = spaces[below(std::size(spaces))];
  const auto number_of_it = static_cast<uint32_t>(program_.buffers.size());
  const uint32_t words = 64 + below(words_most - 63);
  program_.buffers.push_back({space, words});
  accesses_.emplace_back();
  alive_.push_back(true);
  Step step{.call = Call::allocate, .stream = current_, .to = {number_of_it, 0}, .words = words};
  step.thread = thread_for(current_);
  const std::vector<Held> whole = {{number_of_it, 0, words, true}};
  if (space == Space::ordered) {
    put(step, whole);
  } else {
    let_all_go();
    program_.steps.push_back(step);
  }
  // What lies in new memory is anybody's guess.
  if (on_host(space)) {
    program_.steps.push_back(
        {.call = Call::host_writes, .to = step.to, .words = words, .salt = number()});
  } else {
    put({.call = Call::fill, .stream = current_, .to = step.to, .words = words, .salt = number()},
        whole);
  }
}

void Generator::release_buffer() {
  Place place;
  if (!pick(for_copies, 0, place)) return;
  const Buffer& buffer = program_.buffers[place.buffer];
  const Held whole{place.buffer, 0, buffer.words, true};
  Step step{.call = Call::release, .stream = current_, .to = {place.buffer, 0}};
  step.thread = thread_for(current_);
  if (buffer.space == Space::ordered && chance(60)) {
    step.form = Form::other;
    put(step, {whole});
  } else {
    // Freeing what did not come from a pool waits for the device, all else must be idle.
    const bool waits = buffer.space == Space::device || buffer.space == Space::managed;
    if (!waits || chance(50)) order_host_after(whole);
    put_waiting(step);
  }
  alive_[place.buffer] = false;
}

bool Generator::draw_launch(Step& step) {
  step.call = Call::launch;
  step.kernel = static_cast<Kernel>(below(std::size(effects)));
  step.stream = current_;
  step.words = lengths[below(std::size(lengths))];
  step.block = chance(50) ? 32 : 64;
  step.salt = number();
  const uint32_t form = below(20);
  step.form = form < 14   ? Form::plain
              : form < 17 ? Form::other
              : form < 19 ? Form::third
                          : Form::fourth;
  const auto fits = chance(95) ? of_runtime : for_kernels;
  return pick_two(fits, fits, step);
}

std::vector<Generator::Held> Generator::touched_by(const Step& launch) const {
  const Effects& what = effects[static_cast<size_t>(launch.kernel)];
  std::vector<Held> touched;
  if (what.reads_in) {
    touched.push_back(
        {launch.from.buffer, launch.from.first, launch.from.first + launch.words, false});
  }
  if (what.reads_out || what.writes_out) {
    touched.push_back(
        {launch.to.buffer, launch.to.first, launch.to.first + launch.words, what.writes_out});
  }
  if (what.reads_variable || what.writes_variable) {
    touched.push_back({0, 0, launch.words, what.writes_variable});
  }
  return touched;
}

// Launches come in rows, since a row on one stream that still waits is what Sluice holds back.
void Generator::add_launches() {
  const uint32_t row = chance(40) ? 1 : 2 + below(12);
  if (row > 1 && chance(70)) {
    for (size_t other = 0; other < stream_count; ++other)
      order_after_stream(static_cast<Stream>(other), current_);
    add_hold();
  }
  for (uint32_t i = 0; i < row; ++i) {
    Step step;
    if (!draw_launch(step)) continue;
    step.thread = thread_for(current_);
    put(step, touched_by(step));
  }
}

void Generator::add_graph() {
  const Stream stream = current_ == legacy ? blocking_a : current_;
  std::vector<Step> launches;
  std::vector<Held> touched;
  for (uint32_t i = 0; i < 1 + below(3); ++i) {
    Step step;
    if (!draw_launch(step)) continue;
    step.stream = stream;
    step.thread = thread_for(stream);
    step.form = Form::plain;
    const std::vector<Held> by_it = touched_by(step);
    touched.insert(touched.end(), by_it.begin(), by_it.end());
    launches.push_back(step);
  }
  if (launches.empty()) return;
  // One thread makes and launches the graph.
  Step graph{.call = Call::graph, .stream = stream, .thread = launches.front().thread};
  graph.number = static_cast<uint8_t>(launches.size());
  put(graph, touched);
  for (Step& step : launches) {
    step.thread = graph.thread;
    program_.steps.push_back(step);
  }
}

void Generator::add_copy() {
  Step step{.call = Call::copy, .stream = current_};
  step.rows = 1 + below(6);
  const uint32_t width = 1 + below(64);
  step.pitch = width + below(8);
  const bool rows = chance(35);
  step.words = rows ? (step.rows - 1) * step.pitch + width : 1 + below(300);
  if (rows) step.call = Call::copy_rows;
  if (!pick_two(for_copies, for_copies, step)) return;
  const Space to = program_.buffers[step.to.buffer].space;
  const Space from = program_.buffers[step.from.buffer].space;
  if (on_host(to) && on_host(from)) return;  // the host's own affair
  if (rows) step.words = width;
  step.form = chance(30) ? Form::other : Form::plain;
  step.waits = chance(30);
  const uint32_t extent = rows ? (step.rows - 1) * step.pitch + width : step.words;
  // A synchronous copy belongs to a default stream.
  if (step.waits) step.stream = chance(60) ? legacy : chance(60) ? own_of_first : own_of_second;
  step.thread = thread_for(step.stream);
  const Held written{step.to.buffer, step.to.first, step.to.first + extent, true};
  const Held read{step.from.buffer, step.from.first, step.from.first + extent, false};
  // Pageable memory is read when the call is made, and the call may wait for what it writes there.
  if (from == Space::pageable) order_host_after(read);
  if (step.waits || from == Space::pageable || to == Space::pageable) let_all_go();
  put(step, {written, read});
  // Of a copy to the device CUDA promises only that the source has been read.
  if (step.waits && on_host(to)) ordering_.host_waits_for_stream(step.stream);
}

void Generator::add_fill() {
  Step step{.call = Call::fill, .stream = current_, .words = 1 + below(300), .salt = number()};
  const bool rows = chance(30);
  if (rows) {
    step.call = Call::fill_rows;
    step.rows = 1 + below(5);
    step.words = 1 + below(40);
    step.pitch = step.words + below(8);
  }
  const uint32_t extent = rows ? (step.rows - 1) * step.pitch + step.words : step.words;
  if (!pick(on_device, extent, step.to)) return;
  step.form = static_cast<Form>(below(3));
  step.waits = chance(30);
  if (step.waits) step.stream = chance(60) ? legacy : chance(60) ? own_of_first : own_of_second;
  step.thread = thread_for(step.stream);
  if (step.waits) let_all_go();
  put(step, {{step.to.buffer, step.to.first, step.to.first + extent, true}});
}

void Generator::add_host_function() {
  Step step{
      .call = Call::host_function, .stream = current_, .words = 1 + below(200), .salt = number()};
  if (!pick(on_host, step.words, step.to)) return;
  step.form = chance(25) ? Form::other : Form::plain;
  step.thread = thread_for(current_);
  put(step, {{step.to.buffer, step.to.first, step.to.first + step.words, true}});
}

void Generator::add_hold() {
  if (closed_.size() >= 3) return;
  Step step{.call = Call::hold, .stream = current_, .number = holds_};
  step.thread = thread_for(current_);
  put(step, {});
  closed_.push_back(holds_++);
}

void Generator::let_all_go() {
  while (!closed_.empty()) {
    program_.steps.push_back({.call = Call::let_go, .number = closed_.back()});
    closed_.pop_back();
  }
}

void Generator::add_poll() {
  Step step{.call = Call::poll, .stream = current_, .salt = number() | 1};
  step.thread = thread_for(current_);
  let_all_go();
  const Clock before = ordering_.next(current_);
  put(step, {});
  ordering_.host_knows(before);
}

void Generator::add_host_access() {
  Step step{.call = chance(50) ? Call::host_writes : Call::host_reads,
            .words = 1 + below(200),
            .salt = number()};
  if (!pick(for_host, step.words, step.to)) return;
  order_host_after(
      {step.to.buffer, step.to.first, step.to.first + step.words, step.call == Call::host_writes});
  program_.steps.push_back(step);
}

void Generator::add_wait() {
  const Stream from = any_stream();
  order_after_stream(from, current_);
}

void Generator::add_synchronisation() {
  const uint32_t kind = below(3);
  if (kind == 0) {
    const auto event = static_cast<uint8_t>(below(event_count));
    record(event, any_stream());
    put_waiting({.call = Call::event_done,
                 .form = chance(40) ? Form::other : Form::plain,
                 .number = event});
    ordering_.host_waits_for_event(event);
  } else if (kind == 1) {
    const Stream stream = any_stream();
    put_waiting({.call = Call::stream_done,
                 .form = chance(40) ? Form::other : Form::plain,
                 .stream = stream,
                 .thread = thread_for(stream)});
    ordering_.host_waits_for_stream(stream);
  } else {
    know_all();
  }
}

// Work of a stream that is destroyed goes on; that it has ended is then known by waiting for all.
void Generator::add_new_stream() {
  const Stream stream = static_cast<Stream>(blocking_a + below(4));
  put_waiting({.call = Call::new_stream, .stream = stream});
  know_all();
}

}  // namespace sluice::random_programs
