// A second implementation of intact_state() with one rule changed, for the test of `sluice verify`:
// what a launch reads is not kept, so that nobody who overwrites it waits (WAR). It stands in the
// place of the real one in one build of the shim, and nowhere else.
#include "dro/launches/live_state.hpp"

namespace sluice::dro {

LiveState intact_state(const LaunchPattern& pattern, Rule /*rule*/) {
  LiveState state;
  for (const BufferAccess& access : pattern.buffers) {
    const ByteSet& written = access.written_bytes;
    state.buffers.push_back({written, written, written, ByteSet()});
  }
  return state;
}

}  // namespace sluice::dro
