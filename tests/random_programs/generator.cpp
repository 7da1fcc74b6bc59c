#include "random_programs/generator.hpp"

#include <algorithm>
#include <utility>

#include "random_programs/spaces.hpp"

namespace sluice::random_programs {
namespace {

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
    const uint32_t kind = below(104);
    if (kind < 6) {
      add_streams();
    } else if (kind < 40) {
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
    } else if (kind < 102) {
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

// Programs launch with the same arguments again, which are not looked up anew.
bool Generator::repeat_launch(Step& step) {
  constexpr size_t recent = 4;
  if (drawn_.empty() || !chance(40)) return false;
  const size_t ago = below(static_cast<uint32_t>(std::min(recent, drawn_.size())));
  const Step& again = drawn_[drawn_.size() - 1 - ago];
  if (!alive_[again.to.buffer] || !alive_[again.from.buffer]) return false;
  step = again;
  step.stream = current_;
  return true;
}

bool Generator::draw_launch(Step& step) {
  if (repeat_launch(step)) return true;
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
  if (!pick_two(fits, fits, step)) return false;
  drawn_.push_back(step);
  return true;
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
    if (chance(15)) record(static_cast<uint8_t>(below(event_count)), current_);
  }
}

// Streams that wait for each other's events, and behind which nothing waits for the host, are what
// Sluice holds back together, while they have work.
void Generator::add_streams() {
  constexpr Stream streams[] = {blocking_a, blocking_b, non_blocking_a, non_blocking_b};
  let_all_go();
  const uint32_t count = 2 + below(3);
  const auto any = [&] { return streams[below(count)]; };
  // What comes behind the first of a stream is held back.
  for (uint32_t i = 0; i < 2 * count; ++i) {
    Step step{.call = Call::launch, .kernel = Kernel::slow, .stream = streams[i % count]};
    step.salt = number();
    step.words = lengths[below(std::size(lengths))];
    step.block = 32;
    if (!pick_two(of_runtime, of_runtime, step)) continue;
    step.thread = thread_for(step.stream);
    put(step, touched_by(step));
  }
  for (uint32_t i = 0; i < 4 + below(20); ++i) {
    current_ = any();
    const uint32_t kind = below(20);
    Step step;
    if (kind < 5) {
      order_after_stream(any(), current_);
    } else if (kind < 7) {
      record(static_cast<uint8_t>(below(event_count)), current_);
    } else if (kind < 9) {
      add_copy();
    } else if (kind < 11) {
      add_fill();
    } else if (kind < 12) {
      add_host_function();
    } else if (draw_launch(step)) {
      step.thread = thread_for(current_);
      put(step, touched_by(step));
    }
  }
}

void Generator::add_graph() {
  const Stream stream = current_ == legacy ? blocking_a : current_;
  std::vector<Step> launches;
  std::vector<Held> touched;
  for (uint32_t i = 0; i < 1 + below(5); ++i) {
    Step step;
    const uint32_t kind = below(10);
    if (kind < 2) {
      step = {.call = Call::fill, .words = 1 + below(300), .salt = number()};
      if (!pick(on_device, step.words, step.to)) continue;
      touched.push_back({step.to.buffer, step.to.first, step.to.first + step.words, true});
    } else if (kind < 4) {
      step = {.call = Call::copy, .words = 1 + below(300)};
      if (!pick_two(on_device, on_device, step)) continue;
      touched.push_back({step.to.buffer, step.to.first, step.to.first + step.words, true});
      touched.push_back({step.from.buffer, step.from.first, step.from.first + step.words, false});
    } else {
      if (!draw_launch(step)) continue;
      step.form = Form::plain;
      const std::vector<Held> by_it = touched_by(step);
      touched.insert(touched.end(), by_it.begin(), by_it.end());
    }
    step.stream = stream;
    step.thread = thread_for(stream);
    launches.push_back(step);
  }
  if (launches.empty()) return;
  // One thread makes and launches the graph.
  Step graph{.call = Call::graph,
             .form = static_cast<Form>(below(4)),
             .stream = stream,
             .thread = launches.front().thread,
             .salt = number()};
  graph.number = static_cast<uint8_t>(launches.size());
  put(graph, touched);
  for (Step& step : launches) {
    step.thread = graph.thread;
    program_.steps.push_back(step);
  }
}

}  // namespace sluice::random_programs
