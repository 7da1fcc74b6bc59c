// SLUICE_VERIFY: what the program copies to the host, hashed, for `sluice verify` to compare.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "dro/records/copy.hpp"
#include "runtime/check/host_copy.hpp"
#include "runtime/check/observer.hpp"
#include "runtime/code/buffers.hpp"
#include "runtime/device.hpp"
#include "runtime/gate.hpp"
#include "runtime/launch/launch_follower.hpp"
#include "runtime/stream/stream_windows.hpp"

namespace sluice::runtime {

// HostCopies notes them in the journal. What the shim calls is thread-safe.
class HostCopies final : public Observer {
 public:
  HostCopies(Gate& gate, Device& device, const Buffers& buffers, StreamWindows& streams,
             LaunchFollower& follower)
      : gate_(gate),
        device_(device),
        buffers_(buffers),
        streams_(streams),
        follower_(follower),
        journal_(follower.journal()) {}

  Wants wants() const override { return {}; }

  // copied() is a copy whose call has succeeded. Its bytes are hashed now, or in its stream when it
  // is done.
  void copied(const HostCopy& copy);
  // finished() waits for those that are not done, but not for long: a stream may never come to
  // them.
  void finished(dro::JournalWriter* journal) override;

 private:
  dro::CopyRecord record_of(const HostCopy& copy);
  void note_when_done(const Box& to, dro::CopyRecord record, const StreamKey& stream);
  void note(dro::CopyRecord record);

  Gate& gate_;
  Device& device_;
  const Buffers& buffers_;
  StreamWindows& streams_;
  LaunchFollower& follower_;
  uint64_t copies_ = 0;
  std::unordered_map<std::thread::id, uint64_t> threads_;
  std::mutex mutex_;  // of what follows, which the device's threads need
  std::condition_variable is_done_;
  dro::JournalWriter* journal_;  // null when the runtime has finished
  size_t waiting_ = 0;
};

// hash_pieces() fills in `piece_bytes` and `pieces` of a copy to `to`.
void hash_pieces(const Box& to, dro::CopyRecord& record);

}  // namespace sluice::runtime
