// The calls of a program that are no launches.
#include "random_programs/generator.hpp"
#include "random_programs/spaces.hpp"

namespace sluice::random_programs {

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
  step.form = static_cast<Form>(below(rows ? 3 : 4));
  step.waits = chance(30) && step.form != Form::fourth;
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
