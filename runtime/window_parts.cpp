#include "runtime/window_parts.hpp"

#include <utility>

namespace sluice::runtime {

WindowPart& WindowParts::of(const StreamKey& stream) {
  const auto found = std::ranges::find(parts_, stream, &WindowPart::stream);
  return found != parts_.end() ? *found : parts_.emplace_back(WindowPart{.stream = stream});
}

std::vector<StreamKey> WindowParts::streams() const {
  std::vector<StreamKey> streams;
  streams.reserve(parts_.size());
  for (const WindowPart& part : parts_)
    streams.push_back(part.stream);
  return streams;
}

void WindowParts::record(void* event, const StreamKey& stream, size_t launches,
                         std::shared_ptr<void> promise) {
  WindowPart& part = of(stream);
  const auto place = static_cast<uint32_t>(events_.size());
  events_.push_back({.event = event,
                     .launches = static_cast<uint32_t>(launches),
                     .part = place_of(part),
                     .after = std::move(part.after),
                     .promise = std::move(promise)});
  part.after = {place};
}

void WindowParts::wait(const StreamKey& stream, uint32_t place) {
  std::vector<uint32_t>& after = of(stream).after;
  if (std::ranges::find(after, place) == after.end()) after.push_back(place);
}

void WindowParts::end(size_t launches) {
  if (line_ == nullptr) return;
  for (const WindowPart& part : parts_)
    record(nullptr, part.stream, launches, nullptr);
}

void WindowParts::keep_ends(std::vector<std::shared_ptr<void>> promises) {
  const size_t first = events_.size() - promises.size();
  for (size_t i = 0; i < promises.size(); ++i)
    events_[first + i].promise = std::move(promises[i]);
}

}  // namespace sluice::runtime
