#include "megakernel/cuda/tables/device_tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "base/divide_up.hpp"
#include "megakernel/cuda/tables/device_edges.h"
#include "megakernel/cuda/tables/task_groups.hpp"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

namespace sluice::megakernel {
namespace {

using schedule::TaskRange;

static_assert(sizeof(schedule::Task) == sizeof(SluiceTask));

class TableWriter {
 public:
  TableWriter(const Window& window, SignalMemory& signals, std::span<const uint32_t> renumbered)
      : window_(window),
        plan_(window.plan),
        signals_(signals),
        renumbered_(renumbered),
        slots_(window.plan.launches.size()),
        groups_(window.plan.launches.size()) {}

  DeviceTables write(uint32_t stress) {
    DeviceTables tables;
    head_.epoch = ++signals_.epoch;
    head_.task_count = static_cast<uint32_t>(plan_.tasks.size());
    head_.stress = stress;
    reserve(sizeof head_);
    for (size_t i = 0; i < slots_.size(); ++i)
      fill_slot(i, tables);
    std::vector<SluiceDependence> dependences;
    dependences.reserve(plan_.dependences.size());
    for (const schedule::LaunchTasks& launch : plan_.launches) {
      SLUICE_ASSERT(launch.first_dependence == dependences.size());
      for (const schedule::Dependence& from : plan_.dependences_of(launch))
        dependences.push_back(dependence(from));
    }
    head_.dependences = append(std::span(dependences));
    head_.slots = append(std::span(slots_));
    head_.tasks = append(std::span(plan_.tasks));
    std::memcpy(bytes_.data(), &head_, sizeof head_);
    tables.bytes = std::move(bytes_);
    tables.flag_count = plan_.flag_count;
    tables.counter_count = counters_;
    return tables;
  }

  // once(), wait_for_counter() and wait_for_groups() are what write_edges() asks for.
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

  void wait_for_counter(SluiceDependence& result, const schedule::Dependence& from) {
    SluiceSlot& master = slots_[from.master];
    if (master.counter == SLUICE_NONE) {
      master.counter = new_counter(task_count(plan_.launches[from.master]));
    }
    result.kind = SLUICE_WAIT_COUNTER;
    result.counter = master.counter;
    result.counter_target = signals_.counted[master.counter];
  }

  // A task adds to one group's counter at most, so a master has the groups of the first dependence
  // that has any, and of those that agree with it.
  void wait_for_groups(SluiceDependence& result, const schedule::Dependence& from,
                       const dro::RangeEdges& edges) {
    const schedule::LaunchTasks& master = plan_.launches[from.master];
    std::optional<TaskGroups> groups = find_task_groups(edges, master.blocks_per_task);
    if (!groups) return;
    MasterGroups& known = groups_[from.master];
    if (known.counters.empty()) {
      known.groups = groups->groups;
      std::vector<uint32_t> counter_of_task(task_count(master), SLUICE_NONE);
      for (const TaskRange& group : groups->groups) {
        known.counters.push_back(new_counter(group.last - group.first + 1));
        std::fill(counter_of_task.begin() + group.first, counter_of_task.begin() + group.last + 1,
                  known.counters.back());
      }
      // The offset fits 32 bits: a table that large would not fit a window's limits.
      slots_[from.master].group_counters =
          static_cast<uint32_t>(append(std::span(counter_of_task)));
    } else if (known.groups != groups->groups) {
      return;
    }
    std::vector<uint64_t> items;
    items.reserve(2 * groups->group_of_range.size());
    for (const uint32_t group : groups->group_of_range) {
      const uint32_t counter = known.counters[group];
      items.push_back(counter);
      items.push_back(signals_.counted[counter]);
    }
    result.kind = SLUICE_WAIT_GROUPS;
    result.items = append(std::span(items));
  }

 private:
  uint64_t reserve(size_t size) {
    constexpr size_t alignment = 16;
    const size_t offset = round_up(bytes_.size(), alignment);
    bytes_.resize(offset + size);
    return offset;
  }
  template <class T>
  uint64_t append(std::span<const T> values) {
    const uint64_t offset = reserve(values.size_bytes());
    if (!values.empty()) std::memcpy(bytes_.data() + offset, values.data(), values.size_bytes());
    return offset;
  }
  template <class T>
  uint64_t append(std::span<T> values) {
    return append(std::span<const T>(values));
  }

  void fill_slot(size_t index, DeviceTables& tables) {
    const schedule::LaunchTasks& tasks = plan_.launches[index];
    const LaunchCode& from = window_.code[index];
    SLUICE_ASSERT(from.device != nullptr);
    const DeviceCode& code = *from.device;
    const SluiceBlockLaunch& launch = *from.launch;
    SluiceSlot& slot = slots_[index];
    slot.body = renumbered_.empty() ? code.body : renumbered_[code.body];
    std::copy(std::begin(launch.grid), std::end(launch.grid), std::begin(slot.grid));
    slot.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    slot.blocks_per_task = tasks.blocks_per_task;
    slot.independent = code.independent ? 1 : 0;
    slot.first_flag = tasks.first_flag;
    slot.first_dependence = tasks.first_dependence;
    slot.dependence_count = tasks.dependence_count;
    slot.counter = slot.group_counters = SLUICE_NONE;
    slot.staged_words = code.parameter_bytes / 8 + static_cast<uint32_t>(code.addresses.size());
    slot.staged = reserve(size_t{8} * slot.staged_words);
    // The last parameter's padding is no part of what the program gave.
    const size_t given = std::min<size_t>(code.parameter_bytes, from.parameter_bytes);
    if (given != 0) std::memcpy(bytes_.data() + slot.staged, launch.parameters, given);
    if (!code.addresses.empty()) {
      std::memcpy(bytes_.data() + slot.staged + code.parameter_bytes, code.addresses.data(),
                  8 * code.addresses.size());
    }
    tables.pool_bytes = std::max(tables.pool_bytes, code.pool_bytes(launch.dynamic_shared_bytes));
  }

  // new_counter() counts `tasks` tasks in this window; the target is what it then holds.
  uint32_t new_counter(uint32_t tasks) {
    if (counters_ == signals_.counted.size()) signals_.counted.push_back(0);
    signals_.counted[counters_] += tasks;
    return counters_++;
  }

  SluiceDependence dependence(const schedule::Dependence& from) {
    const dro::EdgeTable& edges = *from.edges;
    const schedule::LaunchTasks& master = plan_.launches[from.master];
    SluiceDependence result = {};
    result.master_first_flag = master.first_flag;
    result.master_blocks_per_task = master.blocks_per_task;
    const Dim3& m = edges.master_grid;
    const Dim3& s = edges.slave_grid;
    std::copy_n(&m.x, 3, std::begin(result.master_grid));
    std::copy_n(&s.x, 3, std::begin(result.slave_grid));
    std::visit([&](const auto& form) { write_edges(form, from, result, *this); }, edges.form);
    return result;
  }

  struct MasterGroups {
    std::vector<TaskRange> groups;
    std::vector<uint32_t> counters;
  };

  const Window& window_;
  const schedule::Plan& plan_;
  SignalMemory& signals_;
  const std::span<const uint32_t> renumbered_;
  SluiceWindow head_ = {};
  std::vector<std::byte> bytes_;
  std::vector<SluiceSlot> slots_;
  std::vector<MasterGroups> groups_;
  std::map<const void*, uint64_t> written_;
  uint32_t counters_ = 0;
};

}  // namespace

void DeviceTables::set_signals(uint64_t flags, uint64_t counters) {
  std::memcpy(bytes.data() + offsetof(SluiceWindow, flags), &flags, sizeof flags);
  std::memcpy(bytes.data() + offsetof(SluiceWindow, counters), &counters, sizeof counters);
}

void DeviceTables::set_bound(uint32_t most_polls, uint64_t report) {
  std::memcpy(bytes.data() + offsetof(SluiceWindow, most_polls), &most_polls, sizeof most_polls);
  std::memcpy(bytes.data() + offsetof(SluiceWindow, report), &report, sizeof report);
}

DeviceTables make_device_tables(const Window& window, SignalMemory& signals, uint32_t stress,
                                std::span<const uint32_t> renumbered) {
  return TableWriter(window, signals, renumbered).write(stress);
}

}  // namespace sluice::megakernel
