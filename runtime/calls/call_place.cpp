#include "runtime/calls/call_place.hpp"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace sluice::runtime {
namespace {

constexpr char around = '\x1d';
constexpr char between = '\x1e';
constexpr char before_address = '\x1f';
constexpr int address_base = 16;

CallPlaces places_of(std::string_view inside) {
  CallPlaces places;
  const size_t end = inside.find(between);
  places.kernel = inside.substr(0, end);
  for (size_t next = end; next != std::string_view::npos;) {
    const size_t begin = next + 1;
    next = inside.find(between, begin);
    const std::string_view frame =
        inside.substr(begin, next == std::string_view::npos ? next : next - begin);
    const size_t place = frame.find(before_address);
    if (place == std::string_view::npos) continue;
    CallPlace read{std::string(frame.substr(0, place)), 0};
    const std::string_view address = frame.substr(place + 1);
    std::from_chars(address.data(), address.data() + address.size(), read.address, address_base);
    places.frames.push_back(std::move(read));
  }
  return places;
}

}  // namespace

std::string mark_of(const CallPlaces& places) {
  std::string mark = around + places.kernel;
  for (const CallPlace& frame : places.frames)
    mark += fmt::format("{}{}{}{:x}", between, frame.file, before_address, frame.address);
  return mark + around;
}

std::string replace_marks(const std::string& text,
                          const std::function<std::string(const CallPlaces&)>& with) {
  std::string result;
  size_t done = 0;
  for (size_t begin = text.find(around); begin != std::string::npos;
       begin = text.find(around, done)) {
    const size_t end = text.find(around, begin + 1);
    if (end == std::string::npos) break;
    result += text.substr(done, begin - done);
    result += with(places_of(std::string_view(text).substr(begin + 1, end - begin - 1)));
    done = end + 1;
  }
  return result + text.substr(done);
}

std::string without_marks(const std::string& text) {
  return replace_marks(text, [](const CallPlaces&) { return std::string(); });
}

}  // namespace sluice::runtime
