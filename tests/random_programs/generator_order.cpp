// How the generator keeps a program free of races.
#include <algorithm>

#include "random_programs/generator.hpp"

namespace sluice::random_programs {

bool Generator::conflicts(const Access& access, const Held& touched) const {
  return (access.writes || touched.writes) && access.first < touched.end &&
         touched.first < access.end;
}

void Generator::put(Step step, const std::vector<Held>& touched) {
  if (step.stream == own_of_first) step.thread = 0;
  if (step.stream == own_of_second) step.thread = 1;
  order_after_conflicts(step.stream, touched);
  const Work work = ordering_.add(step.stream);
  for (const Held& one : touched)
    accesses_[one.buffer].push_back({one.first, one.end, one.writes, work});
  program_.steps.push_back(step);
}

void Generator::put_waiting(Step step) {
  let_all_go();
  program_.steps.push_back(step);
}

void Generator::order_after_conflicts(Stream stream, const std::vector<Held>& touched) {
  for (const Held& one : touched) {
    for (const Access& access : accesses_[one.buffer]) {
      if (!conflicts(access, one) || Ordering::before(access.work, ordering_.next(stream)))
        continue;
      order(access.work, stream);
    }
  }
}

void Generator::record(uint8_t event, Stream stream) {
  program_.steps.push_back(
      {.call = Call::record, .stream = stream, .thread = thread_for(stream), .number = event});
  ordering_.record(event, stream);
}

void Generator::order_after_stream(Stream earlier, Stream later) {
  const auto event = static_cast<uint8_t>(below(event_count));
  record(event, earlier);
  program_.steps.push_back(
      {.call = Call::wait, .stream = later, .thread = thread_for(later), .number = event});
  ordering_.wait(later, event);
}

// order() makes what comes next on `before` come after `work`.
void Generator::order(const Work& work, Stream before) {
  const uint32_t way = below(10);
  if (way < 6) {
    order_after_stream(work.stream, before);
  } else if (way < 7) {
    const auto event = static_cast<uint8_t>(below(event_count));
    record(event, work.stream);
    put_waiting({.call = Call::event_done, .number = event});
    ordering_.host_waits_for_event(event);
  } else if (way < 9) {
    put_waiting(
        {.call = Call::stream_done, .stream = work.stream, .thread = thread_for(work.stream)});
    ordering_.host_waits_for_stream(work.stream);
  } else {
    know_all();
  }
}

void Generator::order_host_after(const Held& touched) {
  for (const Access& access : accesses_[touched.buffer]) {
    if (!conflicts(access, touched) || Ordering::before(access.work, ordering_.host())) continue;
    put_waiting({.call = Call::stream_done,
                 .form = chance(30) ? Form::other : Form::plain,
                 .stream = access.work.stream,
                 .thread = thread_for(access.work.stream)});
    ordering_.host_waits_for_stream(access.work.stream);
  }
}

void Generator::know_all() {
  put_waiting({.call = Call::all_done});
  ordering_.host_waits_for_all();
}

}  // namespace sluice::random_programs
