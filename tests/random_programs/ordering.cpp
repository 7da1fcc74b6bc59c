#include "random_programs/ordering.hpp"

#include <algorithm>

namespace sluice::random_programs {
namespace {

bool is_blocking(size_t stream) {
  return stream != legacy && stream != non_blocking_a && stream != non_blocking_b;
}

}  // namespace

void Ordering::join(Clock& clock, const Clock& other) {
  for (size_t i = 0; i < stream_count; ++i)
    clock[i] = std::max(clock[i], other[i]);
}

Clock Ordering::next(Stream stream) const {
  Clock moment = own_[stream];
  join(moment, pending_[stream]);
  join(moment, host_);
  if (stream == legacy) {
    for (size_t other = 0; other < stream_count; ++other) {
      if (is_blocking(other)) join(moment, own_[other]);
    }
  } else if (is_blocking(stream)) {
    join(moment, own_[legacy]);
  }
  return moment;
}

Work Ordering::add(Stream stream) {
  own_[stream] = next(stream);
  pending_[stream] = {};
  own_[stream][stream] = ++counts_[stream];
  return {stream, counts_[stream]};
}

void Ordering::host_waits_for_all() {
  host_ = counts_;
}

}  // namespace sluice::random_programs
