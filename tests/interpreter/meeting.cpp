// Where threads wait for each other: barriers of the block and exchanges of a warp.
#include <algorithm>
#include <optional>

#include "interpreter/machine.hpp"

namespace sluice::interpreter {
namespace {

constexpr uint32_t lanes = 32;

// What a step is, in Step::detail.
enum Meeting : uint32_t {
  barrier,
  count_votes,
  all_of_block,
  any_of_block,
  warp_barrier,
  shuffle_up,
  shuffle_down,
  shuffle_butterfly,
  shuffle_index,
  vote_all,
  vote_any,
  vote_ballot,
  reduce_add,
  reduce_min,
  reduce_max,
};

bool is_of_warp(uint32_t meeting) {
  return meeting >= warp_barrier;
}

struct Form {
  std::string_view opcode;
  std::initializer_list<std::string_view> words;
  Meeting meeting;
};

std::optional<Meeting> meeting_of(const Step& step) {
  const Form forms[] = {
      {"bar", {"sync"}, barrier},
      {"barrier", {"sync"}, barrier},
      {"bar", {"red", "popc"}, count_votes},
      {"bar", {"red", "and"}, all_of_block},
      {"bar", {"red", "or"}, any_of_block},
      {"bar", {"warp", "sync"}, warp_barrier},
      {"shfl", {"sync", "up"}, shuffle_up},
      {"shfl", {"sync", "down"}, shuffle_down},
      {"shfl", {"sync", "bfly"}, shuffle_butterfly},
      {"shfl", {"sync", "idx"}, shuffle_index},
      {"vote", {"sync", "all"}, vote_all},
      {"vote", {"sync", "any"}, vote_any},
      {"vote", {"sync", "ballot"}, vote_ballot},
      {"redux", {"sync", "add"}, reduce_add},
      {"redux", {"sync", "min"}, reduce_min},
      {"redux", {"sync", "max"}, reduce_max},
  };
  for (const Form& form : forms) {
    if (form.opcode == step.source->opcode_name() && is_written(step, form.words))
      return form.meeting;
  }
  return std::nullopt;
}

const Step& step_of(const Machine& machine, const Thread& thread) {
  return machine.code.steps[thread.next];
}

uint64_t read(Machine& machine, Thread& thread, size_t argument, ScalarType type) {
  machine.thread = &thread;
  return machine.read(step_of(machine, thread).arguments[argument], type);
}

void go_on(Machine& machine, Thread& thread, std::optional<uint64_t> result) {
  machine.thread = &thread;
  if (result) machine.write(step_of(machine, thread).arguments[0], *result);
  thread.state = Thread::State::runs;
  ++thread.next;
}

// All threads that have not ended wait at barriers of one kind: each gets what they say together.
bool meet_block(Machine& machine) {
  std::vector<Thread*> waiting;
  uint64_t votes = 0;
  for (Thread& thread : machine.threads) {
    if (thread.state == Thread::State::ended) continue;
    if (thread.state != Thread::State::at_barrier) return false;
    const Step& step = step_of(machine, thread);
    const uint32_t meeting = step.detail;
    if (!waiting.empty() && meeting != step_of(machine, *waiting.front()).detail) return false;
    waiting.push_back(&thread);
    const size_t number = meeting == barrier ? 0 : 1;
    if (read(machine, thread, number, ScalarType::u32) != 0) return false;
    if (meeting != barrier) votes += read(machine, thread, 2, ScalarType::pred);
  }
  for (Thread* thread : waiting) {
    const uint32_t meeting = step_of(machine, *thread).detail;
    std::optional<uint64_t> result;
    if (meeting == count_votes) result = votes;
    if (meeting == all_of_block) result = votes == waiting.size();
    if (meeting == any_of_block) result = votes != 0;
    go_on(machine, *thread, result);
  }
  return !waiting.empty();
}

// The lane that a shuffle reads, as the PTX manual's pseudo-code has it; the own one, and false,
// where that is out of range.
std::pair<uint32_t, bool> source_lane(uint32_t meeting, uint32_t lane, uint32_t b, uint32_t c) {
  const uint32_t segment = c >> 8 & 31;
  const uint32_t most = (lane & segment) | (c & 31 & ~segment);
  const uint32_t least = lane & segment;
  uint32_t from = 0;
  bool inside = false;
  switch (meeting) {
    case shuffle_up:
      from = lane - (b & 31);
      inside = static_cast<int32_t>(from) >= static_cast<int32_t>(most);
      break;
    case shuffle_down:
      from = lane + (b & 31);
      inside = from <= most;
      break;
    case shuffle_butterfly:
      from = lane ^ (b & 31);
      inside = from <= most;
      break;
    default:
      from = least | (b & 31 & ~segment);
      inside = from <= most;
      break;
  }
  return {inside ? from : lane, inside};
}

struct Warp {
  std::span<Thread> threads;  // by lane
  uint32_t mask = 0;
  uint32_t step = 0;
  bool named(uint32_t lane) const { return (mask >> lane & 1) != 0; }
};

void shuffle(Machine& machine, const Warp& warp) {
  const Step& step = machine.code.steps[warp.step];
  std::vector<uint64_t> values(lanes);
  for (uint32_t lane = 0; lane < warp.threads.size(); ++lane) {
    if (warp.named(lane)) values[lane] = read(machine, warp.threads[lane], 1, ScalarType::b32);
  }
  for (uint32_t lane = 0; lane < warp.threads.size(); ++lane) {
    if (!warp.named(lane)) continue;
    Thread& thread = warp.threads[lane];
    const auto b = static_cast<uint32_t>(read(machine, thread, 2, ScalarType::b32));
    const auto c = static_cast<uint32_t>(read(machine, thread, 3, ScalarType::b32));
    const auto [from, inside] = source_lane(step.detail, lane, b, c);
    if (!warp.named(from)) machine.fault = "a shuffle reads a lane that its mask does not name";
    const Argument& result = step.arguments[0];
    if (result.kind == Argument::Kind::registers) {
      thread.registers[result.registers[0]] = values[from];
      thread.registers[result.registers[1]] = inside;
      go_on(machine, thread, std::nullopt);
    } else {
      go_on(machine, thread, values[from]);
    }
  }
}

// What a vote or a reduction gives all its lanes.
uint64_t together(Machine& machine, const Warp& warp) {
  const Step& step = machine.code.steps[warp.step];
  const ScalarType type = step.detail < reduce_add ? ScalarType::pred : step.type;
  uint64_t ballot = 0, sum = 0;
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (uint32_t lane = 0; lane < warp.threads.size(); ++lane) {
    if (!warp.named(lane)) continue;
    Thread& thread = warp.threads[lane];
    const uint64_t value = read(machine, thread, 1, type);
    const auto number = static_cast<int64_t>(widened(value, type));
    ballot |= (value & 1) << lane;
    sum += value;
    least = std::min(least, number);
    most = std::max(most, number);
  }
  switch (step.detail) {
    case vote_all:
      return ballot == warp.mask;
    case vote_any:
      return ballot != 0;
    case vote_ballot:
      return ballot;
    case reduce_add:
      return sum;
    case reduce_min:
      return static_cast<uint64_t>(least);
    default:
      return static_cast<uint64_t>(most);
  }
}

// Whether the lanes that `first` names all wait where it does, each naming the same.
bool are_there(Machine& machine, const Warp& warp) {
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!warp.named(lane)) continue;
    if (lane >= warp.threads.size() || warp.threads[lane].state == Thread::State::ended) {
      machine.fault = "a mask names a lane that is not there";
      return false;
    }
    Thread& thread = warp.threads[lane];
    if (thread.state != Thread::State::at_warp || thread.next != warp.step) return false;
    const Step& step = machine.code.steps[warp.step];
    if (read(machine, thread, step.arguments.size() - 1, ScalarType::b32) != warp.mask)
      return false;
  }
  return true;
}

bool meet_warp(Machine& machine, std::span<Thread> threads) {
  for (uint32_t lane = 0; lane < threads.size(); ++lane) {
    Thread& thread = threads[lane];
    if (thread.state != Thread::State::at_warp) continue;
    const Step& step = step_of(machine, thread);
    Warp warp{threads, 0, thread.next};
    warp.mask =
        static_cast<uint32_t>(read(machine, thread, step.arguments.size() - 1, ScalarType::b32));
    if (!warp.named(lane)) machine.fault = "a thread's mask does not name its own lane";
    if (!machine.fault.empty() || !are_there(machine, warp)) continue;
    if (step.detail >= shuffle_up && step.detail <= shuffle_index) {
      shuffle(machine, warp);
      return true;
    }
    std::optional<uint64_t> result;
    if (step.detail != warp_barrier) result = together(machine, warp);
    for (uint32_t other = 0; other < threads.size(); ++other) {
      if (warp.named(other)) go_on(machine, threads[other], result);
    }
    return true;
  }
  return false;
}

void wait_for_warp(Machine& machine, const Step&) {
  machine.thread->state = Thread::State::at_warp;
}
void wait_for_block(Machine& machine, const Step&) {
  machine.thread->state = Thread::State::at_barrier;
}

}  // namespace

bool choose_meeting(Step& step) {
  const std::optional<Meeting> meeting = meeting_of(step);
  if (!meeting) return false;
  constexpr size_t arguments[] = {1, 3, 3, 3, 1, 5, 5, 5, 5, 3, 3, 3, 3, 3, 3};
  if (step.arguments.size() != arguments[*meeting]) return false;
  if (*meeting >= reduce_add && !is_integer(step.type)) return false;
  step.detail = *meeting;
  step.action = is_of_warp(*meeting) ? wait_for_warp : wait_for_block;
  return true;
}

bool meet(Machine& machine) {
  bool any = false;
  const std::span<Thread> all = machine.threads;
  for (size_t first = 0; first < all.size(); first += lanes) {
    const auto warp = all.subspan(first, std::min<size_t>(lanes, all.size() - first));
    while (machine.fault.empty() && meet_warp(machine, warp))
      any = true;
  }
  return any || (machine.fault.empty() && meet_block(machine));
}

}  // namespace sluice::interpreter
