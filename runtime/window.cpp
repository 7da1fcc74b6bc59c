#include "runtime/window.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/number/divide_up.hpp"
#include "megakernel/host/scratch.hpp"

namespace sluice::runtime {
namespace {

constexpr size_t alignment = 16;  // the largest of a PTX parameter

}  // namespace

LaunchWindow::Room LaunchWindow::room() const {
  return {launches_.size(), dependences_.size(), touched_.size(), parameters_.size()};
}

LaunchWindow::Room LaunchWindow::larger(const Room& a, const Room& b) {
  return {std::max(a.launches, b.launches), std::max(a.dependences, b.dependences),
          std::max(a.touched, b.touched), std::max(a.parameter_bytes, b.parameter_bytes)};
}

LaunchWindow::LaunchWindow(const StreamKey& stream, dro::LaunchNumber first, const Room& room,
                           void* line)
    : first_(first) {
  parts_.of(stream);
  parts_.set_line(line);
  launches_.reserve(room.launches);
  dependences_.reserve(room.dependences);
  touched_.reserve(room.touched);
  parameters_.reserve(room.parameter_bytes);
}

void LaunchWindow::append(const LaunchCall& call, const SluiceBlockCode& code,
                          std::span<const std::byte> parameters,
                          std::span<const TouchedBuffer> touched) {
  if (!rows_.empty()) unfold();
  const size_t first = round_up(parameters_.size(), alignment);
  parameters_.resize(first);
  parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
  touched_.insert(touched_.end(), touched.begin(), touched.end());
  const dro::LaunchNumber number = launches_.empty() ? first_ : launches_.back().number + 1;
  HeldLaunch& launch = launches_.emplace_back();
  launch.number = number;
  launch.function = call.function;
  launch.grid = call.grid;
  launch.block = call.block;
  launch.dynamic_shared_bytes = call.dynamic_shared_bytes;
  launch.code = code;
  launch.first_parameter_byte = first;
  launch.parameter_bytes = parameters.size();
  launch.touched_count = static_cast<uint32_t>(touched.size());
  WindowPart& part = parts_.of(call.stream);
  ++part.launches;
  launch.part = parts_.place_of(part);
}

void LaunchWindow::append(GivenRow row, const StreamKey& stream, dro::LaunchNumber first) {
  WindowPart& part = parts_.of(stream);
  const auto launches = static_cast<uint32_t>(row.row->launches.size());
  rows_.push_back({std::move(row), first, parts_.place_of(part)});
  part.launches += launches;
  folded_ += launches;
}

void LaunchWindow::unfold() {
  Room all{size(), dependences_.size(), touched_.size(), parameters_.size()};
  for (const RowInWindow& held : rows_) {
    all.dependences += held.given.row->dependences.size();
    all.touched += held.given.row->touched.size();
    all.parameter_bytes = round_up(all.parameter_bytes, alignment) + held.given.parameters->size();
  }
  launches_.reserve(all.launches);
  dependences_.reserve(all.dependences);
  touched_.reserve(all.touched);
  parameters_.reserve(all.parameter_bytes);
  for (const RowInWindow& held : std::exchange(rows_, {})) {
    const size_t first_byte = round_up(parameters_.size(), alignment);
    parameters_.resize(first_byte);
    const HeldRow& row = *held.given.row;
    const std::vector<std::byte>& parameters = *held.given.parameters;
    parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
    touched_.insert(touched_.end(), row.touched.begin(), row.touched.end());
    auto dependence = row.dependences.begin();
    for (const HeldLaunch& kept : row.launches) {
      HeldLaunch& launch = launches_.emplace_back(kept);
      launch.number += held.first;
      launch.first_parameter_byte += first_byte;
      launch.part = held.part;
      launch.dependence_count = 0;
      for (uint32_t i = 0; i < kept.dependence_count; ++i, ++dependence) {
        const size_t master = find(dependence->on.master_of(launch.number));
        if (master == launches_.size()) continue;  // before the window
        dependences_.push_back({static_cast<uint32_t>(master), dependence->edges});
        ++launch.dependence_count;
      }
    }
  }
  folded_ = 0;
}

bool LaunchWindow::holds(dro::LaunchNumber number) const {
  return find(number) != launches_.size() ||
         std::ranges::any_of(rows_, [number](const RowInWindow& held) {
           return number - held.first < held.given.row->launches.size();
         });
}

void LaunchWindow::depend_on(dro::LaunchNumber master, const dro::EdgeTable& edges) {
  const size_t place = find(master);
  SLUICE_ASSERT(place + 1 < launches_.size());
  dependences_.push_back({static_cast<uint32_t>(place), &edges});
  ++launches_.back().dependence_count;
}

size_t LaunchWindow::find(dro::LaunchNumber number) const {
  if (launches_.empty() || number < first_ || number > launches_.back().number) {
    return launches_.size();
  }
  // Where no other stream had a launch in between, numbers are places.
  const size_t guess = number - first_;
  if (guess < launches_.size() && launches_[guess].number == number) return guess;
  const auto found = std::lower_bound(
      launches_.begin(), launches_.end(), number,
      [](const HeldLaunch& launch, dro::LaunchNumber wanted) { return launch.number < wanted; });
  return found->number == number ? static_cast<size_t>(found - launches_.begin())
                                 : launches_.size();
}

namespace {

// EventsInOrder gives the events of a window to `take`, each when its launches have been passed.
template <class Take>
class EventsInOrder {
 public:
  EventsInOrder(LaunchWindow& window, Take take) : events_(window.parts().events()), take_(take) {}
  void passed_launch() {
    ++launches_;
    for (; !events_.empty() && events_.front().launches <= launches_; events_ = events_.subspan(1))
      if (auto promise = std::exchange(events_.front().promise, nullptr)) take_(std::move(promise));
  }

 private:
  std::span<HeldEvent> events_;
  Take take_;
  uint32_t launches_ = 0;
};

// join_streams() has the first stream of a window of several go on when all that these have is
// done, and the others when `others` is gone.
int join_streams(const LaunchWindow& window, Device& device, std::shared_ptr<void>& others) {
  const std::vector<StreamKey> streams = window.parts().streams();
  const auto kept = std::make_shared<Device::Ends>();
  others = kept;
  return device.enqueue_together(window.parts().line(), streams, [kept](Device::Ends ends) {
    const std::shared_ptr<void> first = std::exchange(ends.front(), nullptr);
    *kept = std::move(ends);
  });
}

}  // namespace

int launch_plainly(LaunchWindow& window, Device& device) {
  const InContext context(device, window.stream());
  const WithoutWaiting scope(device);
  std::shared_ptr<void> others;
  int first_error = window.parts().line() == nullptr ? 0 : join_streams(window, device, others);
  if (first_error != 0) return first_error;
  // Reached when the function is gone: also where the device does not take it.
  const auto let_go_of = [&](std::shared_ptr<void> promise) {
    device.enqueue(window.stream(), [promise = std::move(promise)] {});
  };
  EventsInOrder events(window, let_go_of);
  window.for_each([&](const HeldLaunch& launch, const std::byte* parameters) {
    // CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
    size_t bytes = launch.parameter_bytes;
    void* extra[] = {reinterpret_cast<void*>(1), const_cast<std::byte*>(parameters),
                     reinterpret_cast<void*>(2), &bytes, nullptr};
    const int result = device.launch({.function = launch.function,
                                      .grid = launch.grid,
                                      .block = launch.block,
                                      .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                                      .stream = window.stream(),
                                      .extra = bytes == 0 ? nullptr : extra});
    if (first_error == 0) first_error = result;
    events.passed_launch();
  });
  if (others != nullptr) let_go_of(std::move(others));
  return first_error;
}

void run_one_by_one(LaunchWindow& window) {
  megakernel::Scratch scratch;
  EventsInOrder events(window, [](const std::shared_ptr<void>& /*reached*/) {});
  window.for_each([&](const HeldLaunch& launch, const std::byte* parameters) {
    const SluiceBlockLaunch blocks = {
        parameters, {launch.grid.x, launch.grid.y, launch.grid.z}, launch.dynamic_shared_bytes, 0};
    const auto count = static_cast<uint32_t>(launch.grid.count());
    void* memory = scratch.reserve(launch.code.scratch_bytes);
    if (launch.runner != nullptr) {
      launch.runner->run(launch.code, blocks, 0, count, memory);
    } else {
      launch.code.function(&blocks, 0, count, memory);
    }
    events.passed_launch();
  });
}

}  // namespace sluice::runtime
