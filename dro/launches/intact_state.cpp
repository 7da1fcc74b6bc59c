#include "dro/launches/live_state.hpp"

namespace sluice::dro {

LiveState intact_state(const LaunchPattern& pattern, Rule rule) {
  LiveState state;
  for (const BufferAccess& access : pattern.buffers) {
    const ByteSet& written = access.written_bytes;
    state.buffers.push_back(
        {written, written, written, rule == Rule::exact ? access.read_bytes : ByteSet()});
  }
  return state;
}

}  // namespace sluice::dro
