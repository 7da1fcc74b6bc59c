#include "megakernel/cuda/tables/device_tables.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/number/divide_up.hpp"
#include "megakernel/cuda/tables/device_edges.h"
#include "megakernel/cuda/tables/task_groups.hpp"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

namespace sluice::megakernel {
namespace {

using schedule::TaskRange;

static_assert(sizeof(SluiceSlot) == SLUICE_CONTROL_NEXT);
static_assert(SLUICE_SLOT + offsetof(SluiceSlot, at_once) == SLUICE_CONTROL_AT_ONCE);
static_assert(SLUICE_WAITS + SLUICE_MOST_STAGED_WAITS * sizeof(SluiceWait) <= SLUICE_PARAMETERS);
// The lanes of the warp that waits look at half as many waits at once: no more are staged.
constexpr uint32_t lanes = 32;
constexpr size_t most_waits_at_once = lanes / 2;
static_assert(SLUICE_MOST_STAGED_WAITS <= most_waits_at_once);
// Numbers of blocks are computed with a sign, sums of two of them too.
constexpr uint32_t most_blocks = 1U << 30;

// is_measured() picks one in 64 tasks, at whatever distance those of a slot follow each other.
bool is_measured(const SluiceTask& task) {
  constexpr uint32_t golden = 0x9E3779B1;
  return ((task.task + task.slot * 61U) * golden) >> 26U == 0;
}

class TableWriter {
 public:
  TableWriter(const Window& window, SignalMemory& signals, const Workers& workers,
              std::span<const uint32_t> renumbered)
      : window_(window),
        plan_(window.plan),
        signals_(signals),
        workers_(workers),
        renumbered_(renumbered),
        slots_(window.plan.launches.size()),
        counter_of_slot_(slots_.size(), SLUICE_NONE),
        waits_of_(slots_.size()),
        groups_(window.plan.launches.size()) {}

  DeviceTables write(uint32_t stress) {
    SluiceWindow& head = tables_.window;
    head.epoch = ++signals_.epoch;
    head.task_count = plan_.flag_count;
    head.stress = stress;
    reserve(sizeof(SluiceTickets));
    for (size_t i = 0; i < slots_.size(); ++i)
      fill_slot(i);
    for (size_t i = 0; i < slots_.size(); ++i)
      find_waits(i);
    const std::vector<SluiceTime> times(slots_.size());
    head.times = append(std::span(std::as_const(times)));
    write_records();
    write_order();
    tables_.flag_count = plan_.flag_count;
    tables_.counter_count = counters_;
    return std::move(tables_);
  }

  // These are what write_edges() asks for.
  template <class T>
  uint64_t once(const std::vector<T>& values) {
    const auto [place, is_new] = written_.try_emplace(&values, 0);
    if (is_new) place->second = append(std::span(values));
    return place->second;
  }

  template <class T>
  uint64_t anew(const std::vector<T>& values) {
    return append(std::span(values));
  }

  uint32_t blocks_per_task(uint32_t master) const {
    return plan_.launches[master].cut.blocks_per_task;
  }

  void wait_for_tasks(const schedule::Dependence& from, SluiceWait wait) {
    wait.signals = flag_offset(from.master);
    wait.expected = tables_.window.epoch;
    waits_->push_back({wait, false});
  }

  void wait_for_launch(const schedule::Dependence& from, SluiceWait wait) {
    uint32_t& counter = counter_of_slot_[from.master];
    if (counter == SLUICE_NONE) {
      counter = new_counter(task_count(plan_.launches[from.master]));
      slots_[from.master].signals.counter = 8 * uint64_t{counter};
    }
    wait.signals = 8 * uint64_t{counter};
    wait.expected = signals_.counted[counter];
    waits_->push_back({wait, true});
  }

  // A task adds to one group's counter at most, so a master has the groups of the first dependence
  // that has any, and of those that agree with it.
  bool wait_for_groups(const schedule::Dependence& from, const dro::RangeEdges& edges,
                       SluiceWait wait) {
    const schedule::LaunchTasks& master = plan_.launches[from.master];
    std::optional<TaskGroups> groups = find_task_groups(edges, master.cut.blocks_per_task);
    if (!groups) return false;
    MasterGroups& known = groups_[from.master];
    if (known.counters.empty()) {
      known.groups = groups->groups;
      std::vector<uint32_t> counter_of_task(task_count(master), SLUICE_NONE);
      for (const TaskRange& group : groups->groups) {
        known.counters.push_back(new_counter(group.last - group.first + 1));
        std::fill(counter_of_task.begin() + group.first, counter_of_task.begin() + group.last + 1,
                  known.counters.back());
      }
      slots_[from.master].signals.group_counters = anew(counter_of_task);
    } else if (known.groups != groups->groups) {
      return false;
    }
    std::vector<TaskRange> items;
    std::vector<uint64_t> expected;
    for (const uint32_t group : groups->group_of_range) {
      const uint32_t counter = known.counters[group];
      items.push_back({counter, counter});
      expected.push_back(signals_.counted[counter]);
    }
    wait.how.by_rows.items = anew(items);
    wait.how.by_rows.expected = anew(expected);
    wait.signals = 0;
    waits_->push_back({wait, true});
    return true;
  }

 private:
  struct Wait {
    SluiceWait wait;
    bool is_for_counter;  // or else for flags
  };

  uint64_t reserve(size_t size) {
    constexpr size_t alignment = 16;
    const size_t offset = round_up(tables_.bytes.size(), alignment);
    tables_.bytes.resize(offset + size);
    return offset;
  }
  template <class T>
  uint64_t append(std::span<const T> values) {
    const uint64_t offset = reserve(values.size_bytes());
    if (!values.empty())
      std::memcpy(tables_.bytes.data() + offset, values.data(), values.size_bytes());
    return offset;
  }

  void fill_slot(size_t index) {
    const schedule::LaunchTasks& tasks = plan_.launches[index];
    const LaunchCode& from = window_.code[index];
    SLUICE_ASSERT(from.device != nullptr);
    const DeviceCode& code = *from.device;
    const SluiceBlockLaunch& launch = *from.launch;
    SLUICE_ASSERT(tasks.block_count <= most_blocks);
    SluiceSlot& slot = slots_[index];
    slot.body = renumbered_.empty() ? code.body : renumbered_[code.body];
    std::copy(std::begin(launch.grid), std::end(launch.grid), std::begin(slot.grid));
    slot.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    slot.last_block = tasks.block_count - 1;
    slot.blocks_per_task = tasks.cut.blocks_per_task;
    slot.width = reciprocal_of(launch.grid[0]);
    slot.height = reciprocal_of(launch.grid[1]);
    const uint32_t at_once = code.at_once(workers_, launch.dynamic_shared_bytes);
    const bool in_groups = code.beside.most(workers_.threads) > 1;
    slot.at_once = in_groups || code.beside.is_independent ? at_once : 0;
    slot.signals.flags = flag_offset(index);
    tables_.window.records.staged =
        std::max(tables_.window.records.staged,
                 code.parameter_bytes / 8 + static_cast<uint32_t>(code.addresses.size()));
    tables_.pool_bytes =
        std::max(tables_.pool_bytes, code.pool_bytes(launch.dynamic_shared_bytes, at_once));
  }

  void find_waits(size_t index) {
    std::vector<Wait>& waits = waits_of_[index];
    waits_ = &waits;
    for (const schedule::Dependence& from : plan_.dependences_of(plan_.launches[index])) {
      std::visit([&](const auto& form) { write_edges(form, from, *this); }, from.edges->form);
    }
    SluiceSlot& slot = slots_[index];
    slot.wait_count = static_cast<uint32_t>(waits.size());
    slot.lanes.bits = static_cast<uint32_t>(
        std::bit_width(std::clamp<size_t>(waits.size(), 1, most_waits_at_once) - 1));
    slot.lanes.mask = (1U << slot.lanes.bits) - 1;
    slot.lanes.together = lanes >> slot.lanes.bits;
    const bool fits = waits.size() <= SLUICE_MOST_STAGED_WAITS;
    const bool is_simple =
        !waits.empty() && fits &&
        std::ranges::all_of(waits, [](const Wait& one) { return one.wait.per_task.factor != 0; });
    slot.simple_width = is_simple ? slot.grid[0] : 0;
    if (fits) {
      tables_.window.records.waits = std::max(tables_.window.records.waits, slot.wait_count);
    } else {
      slot.waits = reserve(waits.size() * sizeof(SluiceWait));
      write_waits(waits, slot.waits);
    }
  }

  void write_waits(const std::vector<Wait>& waits, size_t place) {
    for (const Wait& one : waits) {
      std::memcpy(tables_.bytes.data() + place, &one.wait, sizeof one.wait);
      (one.is_for_counter ? tables_.counter_places : tables_.flag_places)
          .push_back(place + offsetof(SluiceWait, signals));
      place += sizeof one.wait;
    }
  }

  void write_records() {
    SluiceWindow& head = tables_.window;
    const size_t waits = head.records.waits * sizeof(SluiceWait);
    head.records.bytes = static_cast<uint32_t>(
        round_up(sizeof(SluiceSlot) + waits + size_t{8} * head.records.staged, size_t{16}));
    head.slots = reserve(slots_.size() * head.records.bytes);
    for (size_t i = 0; i < slots_.size(); ++i) {
      const size_t place = head.slots + i * head.records.bytes;
      std::memcpy(tables_.bytes.data() + place, &slots_[i], sizeof slots_[i]);
      note_signals(place, i);
      if (slots_[i].waits == 0) write_waits(waits_of_[i], place + sizeof(SluiceSlot));
      write_staged(window_.code[i], tables_.bytes.data() + place + sizeof(SluiceSlot) + waits);
    }
  }

  // The last parameter's padding is no part of what the program gave.
  static void write_staged(const LaunchCode& from, std::byte* staged) {
    const DeviceCode& code = *from.device;
    const size_t given = std::min<size_t>(code.parameter_bytes, from.parameter_bytes);
    if (given != 0) std::memcpy(staged, from.launch->parameters, given);
    if (code.addresses.empty()) return;
    std::memcpy(staged + code.parameter_bytes, code.addresses.data(), 8 * code.addresses.size());
  }

  void note_signals(size_t place, size_t slot) {
    tables_.flag_places.push_back(place + offsetof(SluiceSlot, signals.flags));
    if (counter_of_slot_[slot] == SLUICE_NONE) return;
    tables_.counter_places.push_back(place + offsetof(SluiceSlot, signals.counter));
  }

  // Who lists all tasks has one run.
  void write_order() {
    std::vector<SluiceRun> runs;
    for (const schedule::TaskRun& run : plan_.runs)
      runs.push_back(device_run(run));
    if (plan_.runs.empty()) runs.push_back(device_run({.count = plan_.flag_count, .launches = 0}));
    // Twice, since workers load the run behind theirs too.
    runs.insert(runs.end(), 2, {.last_ticket = UINT32_MAX, .first_slot = SLUICE_NONE});
    tables_.window.runs = append(std::span(std::as_const(runs)));
    tables_.window.tasks = reserve(plan_.tasks.size() * sizeof(SluiceTask));
    auto* to = tables_.bytes.data() + tables_.window.tasks;
    for (const schedule::Task& task : plan_.tasks) {
      SluiceTask written{task.launch, task.first_block / blocks_per_task(task.launch)};
      if (is_measured(written)) written.slot |= SLUICE_MEASURED;
      std::memcpy(to, &written, sizeof written);
      to += sizeof written;
    }
  }

  static SluiceRun device_run(const schedule::TaskRun& run) {
    return {.last_ticket = run.first_ticket + run.count - 1,
            .first_ticket = run.first_ticket,
            .slots = run.launches,
            .reciprocal = run.launches == 0 ? 0 : UINT32_MAX / run.launches,
            .first_slot = run.first_launch,
            .first_task = run.first_task,
            .lag = run.lag};
  }

  uint64_t flag_offset(size_t slot) const { return 8 * uint64_t{plan_.launches[slot].first_flag}; }

  // new_counter() counts `tasks` tasks in this window; the target is what it then holds.
  uint32_t new_counter(uint32_t tasks) {
    if (counters_ == signals_.counted.size()) signals_.counted.push_back(0);
    signals_.counted[counters_] += tasks;
    return counters_++;
  }

  struct MasterGroups {
    std::vector<TaskRange> groups;
    std::vector<uint32_t> counters;
  };

  const Window& window_;
  const schedule::Plan& plan_;
  SignalMemory& signals_;
  const Workers& workers_;
  const std::span<const uint32_t> renumbered_;
  DeviceTables tables_;
  std::vector<SluiceSlot> slots_;
  std::vector<uint32_t> counter_of_slot_;
  std::vector<std::vector<Wait>> waits_of_;  // by slot
  std::vector<Wait>* waits_ = nullptr;       // of the slot whose are being found
  std::vector<MasterGroups> groups_;
  std::map<const void*, uint64_t> written_;
  uint32_t counters_ = 0;
};

}  // namespace

void DeviceTables::place(uint64_t tables, uint64_t flags, uint64_t counters) {
  const auto add = [&](const std::vector<size_t>& places, uint64_t address) {
    for (const size_t place : places) {
      uint64_t value = 0;
      std::memcpy(&value, bytes.data() + place, sizeof value);
      value += address;
      std::memcpy(bytes.data() + place, &value, sizeof value);
    }
  };
  add(flag_places, flags);
  add(counter_places, counters);
  window.tables = tables;
  window.runs += tables;
  window.tasks += tables;
  window.flags = flags;
  window.counters = counters;
  window.counter_bytes = 8 * uint64_t{counter_count};
}

void DeviceTables::set_bound(uint32_t most_polls, uint64_t report) {
  window.most_polls = most_polls;
  window.report = report;
}

void set_workers(SluiceWindow& window, uint32_t workers) {
  window.tickets_ahead = window.task_count > workers ? window.task_count - workers : 0;
}

uint32_t DeviceCode::at_once(const Workers& workers, uint32_t dynamic_shared_bytes) const {
  const uint32_t most = beside.most(workers.threads);
  const uint64_t alone = pool_bytes(dynamic_shared_bytes);
  const uint64_t stride = beside.stride(dynamic_shared_bytes);
  if (most == 1 || stride == 0) return most;
  if (workers.most_bytes < alone) return 1;
  return static_cast<uint32_t>(std::min<uint64_t>(most, 1 + (workers.most_bytes - alone) / stride));
}

DeviceCode device_code(const TaskBody& body, uint32_t number) {
  return {.body = number,
          .parameter_bytes = body.parameter_bytes,
          .dynamic_offset = body.dynamic_offset,
          .beside = body.beside,
          .addresses = {}};
}

DeviceTables make_device_tables(const Window& window, SignalMemory& signals, const Workers& workers,
                                uint32_t stress, std::span<const uint32_t> renumbered) {
  return TableWriter(window, signals, workers, renumbered).write(stress);
}

}  // namespace sluice::megakernel
